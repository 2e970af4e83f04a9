import { isoTime, MICROS_PER_SECOND } from '../../rules/times.js';
import {
  DAY,
  longDate,
  monthAfter,
  plainDate,
  shortDate,
  startOfYear,
  tickerDate,
  yearOf,
} from './calendar.js';
import type { Claim } from './claims.js';

const ELECTIONS = [
  { country: 'Norland', office: 'president', names: ['Mara Lindqvist', 'Otto Brandt', 'Ines Falk'] },
  { country: 'Velmora', office: 'chancellor', names: ['Teodor Anselm', 'Priya Castellane', 'Hugo Werth'] },
  { country: 'Casteria', office: 'president', names: ['Lucía Barreno', 'Émile Duras', 'Samuel Okoro'] },
] as const;

const SHARES = [460_000, 330_000, 150_000];

/** Claims about who wins, and who reaches the second round. */
export function electionClaims(start: number): Claim[] {
  return ELECTIONS.flatMap(({ country, office, names }, index) => {
    const ends = monthAfter(start, 2 + 3 * index) + 13 * DAY;
    const wins = names.map((name, place) =>
      electionClaim({
        name,
        country,
        office,
        ends,
        price: SHARES[place] ?? 50_000,
        predicate: 'wins election',
      }),
    );
    const [first] = names;
    return [
      ...wins,
      electionClaim({ name: first, country, office, ends, price: 720_000, predicate: 'reaches run-off' }),
    ];
  });
}

interface Candidacy {
  readonly name: string;
  readonly country: string;
  readonly office: string;
  readonly ends: number;
  readonly price: number;
  readonly predicate: 'wins election' | 'reaches run-off';
}

function electionClaim({ name, country, office, ends, price, predicate }: Candidacy): Claim {
  const year = String(yearOf(ends));
  const isWin = predicate === 'wins election';
  const event = `${country.slice(0, 4).toUpperCase()}${isWin ? '' : 'RO'}-${year.slice(-2)}`;
  const surname = name.split(' ').at(-1) ?? name;
  const done = isWin ? 'win' : 'reach the run-off of';
  return {
    key: `${event}-${surname}`,
    kin: `election ${country}`,
    event: { key: event, name: `${country}: ${isWin ? `next ${office}` : 'who reaches the run-off'}` },
    series: { key: 'ELECTIONS', title: 'Elections' },
    ...{ category: 'politics', subcategory: 'elections', tags: ['Politics', 'Elections', country] },
    terms: {
      subjects: [
        { name: name.toLowerCase(), role: 'candidate' },
        { name: country.toLowerCase(), role: 'country' },
      ],
      ...{ predicate, comparator: 'none', numbers: [], scope: `${office} of ${country}`.toLowerCase() },
      period: { kind: 'during', from: plainDate(startOfYear(yearOf(ends))), to: plainDate(ends) },
      ...{ source: 'electoral commission', void: 'election not held' },
    },
    titles: [
      `Will ${name} ${done} the ${year} ${country} election?`,
      `${country} ${office} ${year}: ${name}${isWin ? '' : ' in the run-off'}`,
      `${surname} ${isWin ? 'elected' : 'among the last two for'} ${office} of ${country}`,
    ],
    rules: `Pays if ${name} ${isWin ? `is declared ${office} of ${country}` : 'is one of the two of the second round'} by the electoral commission.`,
    ticker: `${event}-${surname
      .normalize('NFD')
      .replace(/[^a-z]/gi, '')
      .slice(0, 4)
      .toUpperCase()}`,
    ...{ ends, price },
  };
}

const TITLES = [
  {
    ...{ league: 'nba', final: 'NBA Finals', months: 7 },
    teams: ['Harbor City Herons', 'Redrock Rams', 'Lakeside Lynx', 'Granite Gulls'],
  },
  {
    ...{ league: 'nfl', final: 'Super Bowl', months: 3 },
    teams: ['Ironport Foxes', 'Prairie Bisons', 'Summit Owls', 'Delta Pilots'],
  },
] as const;

/** Claims about who wins the final, and who plays in it. */
export function titleClaims(start: number): Claim[] {
  return TITLES.flatMap(({ league, final, months, teams }) => {
    const ends = monthAfter(start, months) + 14 * DAY;
    const year = String(yearOf(ends));
    return teams.flatMap((team, place) => {
      const event = `${league.toUpperCase()}-${year.slice(-2)}`;
      const code = team.split(' ').at(-1)?.slice(0, 4).toUpperCase() ?? '';
      const win: Claim = {
        key: `${event}-${team}`,
        kin: `title ${league}`,
        event: { key: event, name: `${year} ${final} champion` },
        series: { key: league.toUpperCase(), title: `${final} champions` },
        ...{ category: 'sports', subcategory: league, tags: ['Sports', league.toUpperCase()] },
        sports: { game_id: event, league, outcome_key: code, future: true },
        terms: {
          subjects: [{ name: team.toLowerCase(), role: 'team' }],
          ...{
            predicate: 'wins title',
            comparator: 'none',
            numbers: [],
            scope: `${final} ${year}`.toLowerCase(),
          },
          ...{
            period: { kind: 'by', to: plainDate(ends) },
            source: `the ${league}`,
            void: 'season not finished',
          },
        },
        titles: [
          `Will the ${team} win the ${year} ${final}?`,
          `${year} ${final} champion: ${team}`,
          `${team} to take the ${final} (${year})`,
        ],
        rules: `Pays if the ${team} win the ${final} of ${year}.`,
        ticker: `${event}-${code}`,
        ...{ ends, price: 340_000 - 70_000 * place },
      };
      return place > 1 ? [win] : [win, finalist(win, { team, final, year })];
    });
  });
}

function finalist(
  win: Claim,
  { team, final, year }: { readonly team: string; readonly final: string; readonly year: string },
): Claim {
  return {
    ...win,
    ...{ key: `${win.key} in the final`, ticker: `${win.ticker}F`, price: win.price + 200_000 },
    event: { key: `${win.event.key}F`, name: `Teams of the ${year} ${final}` },
    terms: { ...win.terms, predicate: 'plays in final' },
    titles: [
      `Will the ${team} play in the ${year} ${final}?`,
      `${team} to reach the ${final} in ${year}`,
      `${year} ${final} teams: ${team}`,
    ],
    rules: `Pays if the ${team} play in the ${final} of ${year}, win or lose.`,
  };
}

const RELEASES = [
  { who: 'Orbit Nine', what: 'its lunar lander', does: 'launches', do: 'launch' },
  { who: 'Marlow Pictures', what: 'the third Lantern film', does: 'releases', do: 'release' },
  { who: 'Brightwater Labs', what: 'a model named Tide', does: 'releases', do: 'release' },
  { who: 'Quiet Harbour', what: 'a new studio album', does: 'releases', do: 'release' },
  { who: 'Stellan Motors', what: 'the city car', does: 'delivers', do: 'deliver' },
  { who: 'The Port Authority', what: 'the night ferry', does: 'opens', do: 'open' },
] as const;

/** Claims about what is released, and what is only announced. */
export function releaseClaims(start: number): Claim[] {
  return RELEASES.flatMap(({ who, what, ...verbs }, index) =>
    [1 + (index % 3), 5].flatMap((months) => {
      const ends = monthAfter(start, months) - MICROS_PER_SECOND;
      return [
        releaseClaim({ who, what, ends, ...verbs, price: 300_000 + 40_000 * index }),
        releaseClaim({ who, what, ends, does: 'announces', do: 'announce', price: 550_000 + 40_000 * index }),
      ];
    }),
  );
}

interface Release {
  readonly who: string;
  readonly what: string;
  readonly ends: number;
  /** For example `launches` here, and `launch` in `do`. */
  readonly does: string;
  readonly do: string;
  readonly price: number;
}

function releaseClaim({ who, what, ends, does, do: plain, price }: Release): Claim {
  const code =
    who.replace(/[^A-Z]/g, '') +
    what
      .replace(/[^a-z]/gi, '')
      .slice(-3)
      .toUpperCase();
  const event = `${code}-${tickerDate(ends)}`;
  return {
    key: `${event}-${does}`,
    kin: `release ${who}`,
    event: { key: event, name: `${who} and ${what} by ${longDate(ends)}` },
    series: { key: code, title: `${who} and ${what}` },
    ...{ category: 'culture', subcategory: 'releases', tags: ['Culture', who] },
    terms: {
      subjects: [{ name: who.toLowerCase() }, { name: what, role: 'object' }],
      ...{ predicate: does, comparator: 'none', numbers: [] },
      period: { kind: 'by', to: plainDate(ends) },
      ...{ source: 'public statement', instant: isoTime(ends) },
    },
    titles: [
      `Will ${who} ${plain} ${what} by ${longDate(ends)}?`,
      `${who} ${does} ${what} before ${shortDate(ends)}`,
      `${who}: ${what}, ${does} by ${longDate(ends)}`,
    ],
    rules: `Pays if ${who} ${does} ${what} until the end of ${longDate(ends)}, UTC.`,
    ticker: `${event}-${does.slice(0, 2).toUpperCase()}`,
    ...{ ends, price },
  };
}
