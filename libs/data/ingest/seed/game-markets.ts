import type { Provider } from '../../rules/providers.js';
import { FULL_PRICE } from '../../rules/scales.js';
import { MICROS_PER_SECOND } from '../../rules/times.js';
import { longDate, plainDate, tickerDate, timeOfDay } from './calendar.js';
import type { ClaimedMarket } from './claimed-markets.js';
import type { ClaimTerms } from './claims.js';
import { type Game, GAME_LEAD } from './games.js';
import { idsOf } from './identities.js';
import { lifeOf } from './life.js';
import { listingOf } from './listing.js';
import { wholePhase } from './phases.js';
import { Draws, keyOf } from './random.js';

type Result = 'home' | 'away' | 'draw';

interface GameOffer {
  readonly provider: Provider;
  /** The result that the first outcome pays for. */
  readonly first: Result;
  /** Outcomes are teams: the second is the other team, the third a draw. */
  readonly isByTeam?: boolean;
}

function offersOf({ league }: Game, provider: Provider): GameOffer[] {
  const of = (first: Result): GameOffer => ({ provider, first });
  switch (provider) {
    case 'venue_a':
      return league.hasDraw ? [of('home'), of('draw'), of('away')] : [{ ...of('home'), isByTeam: true }];
    case 'venue_b':
      return [of('home'), of('away')];
    case 'venue_c':
      return [of('home')];
    case 'venue_d':
      return league.hasDraw ? [{ ...of('home'), isByTeam: true }] : [];
    case 'venue_e':
    case 'venue_f':
      return [];
  }
}

/** Seconds from one trade to the next. */
const PERIOD = { history: 30_000, live: 900 };
const RESOLVES = 120;
const SETTLES = 600;
const LINE = 'gameLines';

export function gameMarkets(
  seed: string,
  game: Game,
  { provider, start }: { readonly provider: Provider; readonly start: number },
): ClaimedMarket[] {
  return offersOf(game, provider).map((offer) => gameMarket(seed, game, offer, start));
}

function gameMarket(seed: string, game: Game, offer: GameOffer, start: number): ClaimedMarket {
  const { provider, first, isByTeam = false } = offer;
  const { game_id, league, starts, ends, home, away } = game;
  const claim = `${game_id} ${first}`;
  const key = keyOf(`${seed} ${provider} ${claim}`);
  const draws = new Draws(key);
  const at = starts * MICROS_PER_SECOND;
  const day = longDate(at);
  const event = `${league.name}-${tickerDate(at)}${timeOfDay(at).replace(':', '')}${away.abbreviation}${home.abbreviation}`;
  const code = first === 'draw' ? 'TIE' : (first === 'home' ? home : away).abbreviation;
  const draw = league.hasDraw ? ['Draw'] : [];
  const labels = isByTeam ? [home.name, away.name, ...draw] : ['Yes', 'No'];
  const ids = idsOf(provider, { seed, key: claim, ticker: `${event}-${code}` }, labels);
  const listedAt = starts - GAME_LEAD;
  const terms = termsOf(game, first);
  const listing = listingOf(
    {
      title: titleOf(game, offer, day),
      rules: `Pays by the result of ${away.name} at ${home.name} on ${day}. Postponed beyond the day: half each.`,
      ...{ rulesSource: `the ${league.league}`, ticker: `${event}-${code}` },
      event: { key: event, name: `${away.name} at ${home.name}` },
      series: { key: `${league.name}GAME`, title: `${league.name} games` },
      ...{
        category: 'sports',
        subcategory: league.league,
        tags: ['Sports', league.name, home.name, away.name],
      },
      sports: { game_id, league: league.league, section: LINE, outcome_key: first },
      ...(provider === 'venue_c' ? { terms: { ...terms } } : {}),
      isExclusive: league.hasDraw,
    },
    {
      ...{ provider, ids, listedAt: listedAt * MICROS_PER_SECOND, tick: 10_000 },
      expiresAt: (ends + 3_600) * MICROS_PER_SECOND,
      settlesAt: (ends + SETTLES) * MICROS_PER_SECOND,
    },
  );
  const payouts = payoutsOf(game, offer, labels.length);
  const life = lifeOf(listing, {
    closes: (game.isPostponed ? starts : ends) * MICROS_PER_SECOND,
    resolves: (ends + RESOLVES) * MICROS_PER_SECOND,
    settles: (ends + SETTLES) * MICROS_PER_SECOND,
    payouts,
  });
  const middle = first === 'draw' ? 260_000 : draws.between(40, 60) * 10_000;
  const opposite = first === 'draw' || league.hasDraw ? undefined : otherOf(first);
  return {
    market: {
      ...{ provider, ...ids, key, listing, life, tick: 10_000, pace: ends < start ? 'thin' : 'steady' },
      phases: wholePhase(
        listedAt,
        game.isPostponed ? starts : ends,
        ends < start ? PERIOD.history : PERIOD.live,
      ),
      path: {
        ...{ key: keyOf(`${seed} ${game_id}`), isOpposite: opposite !== undefined && first === 'away' },
        ...{ middle: league.hasDraw ? middle : 520_000, apart: draws.between(-9, 9) * 1_000 },
        ending: {
          from: starts,
          until: ends,
          pays: endingOf(payouts, opposite !== undefined && first === 'away'),
        },
      },
    },
    ...{ claim, kin: `game ${game_id}`, terms },
    ...(opposite === undefined ? {} : { opposite: `${game_id} ${opposite}` }),
  };
}

function otherOf(first: Result): Result {
  return first === 'home' ? 'away' : 'home';
}

/** The payout of the claim, not of its opposite. */
function endingOf([first = 0]: readonly number[], isOpposite: boolean): number {
  return isOpposite ? FULL_PRICE - first : first;
}

function resultOf({ score }: Game): Result {
  if (score.home === score.away) return 'draw';
  return score.home > score.away ? 'home' : 'away';
}

function payoutsOf(game: Game, { first, isByTeam = false }: GameOffer, outcomes: number): readonly number[] {
  if (game.isPostponed) return evenly(outcomes);
  const result = resultOf(game);
  if (!isByTeam) return result === first ? [FULL_PRICE, 0] : [0, FULL_PRICE];
  const results: readonly Result[] = ['home', 'away', 'draw'];
  return results.slice(0, outcomes).map((each) => (each === result ? FULL_PRICE : 0));
}

/** Equal payouts; the first outcome gets the remainder. */
function evenly(outcomes: number): readonly number[] {
  const each = Math.floor(FULL_PRICE / outcomes);
  return Array.from({ length: outcomes }, (_none, index) =>
    index === 0 ? FULL_PRICE - each * (outcomes - 1) : each,
  );
}

/** Names winner and loser in the order of `first`, or both sides of a draw. */
function termsOf({ home, away, league, starts }: Game, first: Result): ClaimTerms {
  const [winner, loser] = first === 'away' ? [away, home] : [home, away];
  return {
    subjects: [
      { name: winner.name.toLowerCase(), role: first === 'draw' ? 'side' : 'winner' },
      { name: loser.name.toLowerCase(), role: first === 'draw' ? 'side' : 'opponent' },
    ],
    ...{ predicate: first === 'draw' ? 'draws with' : 'beats', comparator: 'none', numbers: [] },
    period: { kind: 'on', to: plainDate(starts * MICROS_PER_SECOND) },
    ...{ scope: `${league.league} game`, source: `the ${league.league}`, void: 'half each' },
  };
}

function titleOf({ home, away }: Game, { first, isByTeam = false }: GameOffer, day: string): string {
  if (isByTeam) return `${away.name} vs. ${home.name}`;
  if (first === 'draw') return `${away.name} at ${home.name}: draw on ${day}?`;
  const [winner, loser] = first === 'away' ? [away, home] : [home, away];
  return `Will the ${winner.name} beat the ${loser.name} on ${day}?`;
}
