import type { MarketDataEvent, ScoreEvent } from '../../rules/events.js';
import { isoTime, MICROS_PER_SECOND } from '../../rules/times.js';
import { plainDate } from './calendar.js';
import { slugOf } from './listing.js';
import { Draws, keyOf } from './random.js';

export interface Team {
  readonly name: string;
  readonly abbreviation: string;
}

export interface League {
  readonly league: string;
  readonly name: string;
  /** Its games start this many seconds after those of the first league. */
  readonly offset: number;
  readonly hasDraw: boolean;
  /** Without a score feed, only the schedule is known. */
  readonly hasFeed: boolean;
  readonly periods: number;
  readonly mostPoints: number;
  readonly teams: readonly [Team, ...Team[]];
}

const team = (name: string, abbreviation: string): Team => ({ name, abbreviation });

export const LEAGUES: readonly League[] = [
  {
    ...{ league: 'nba', name: 'NBA', offset: 0, hasDraw: false, hasFeed: true, periods: 4, mostPoints: 130 },
    teams: [
      ...([team('Harbor City Herons', 'HCH'), team('Redrock Rams', 'RRR')] as const),
      ...[team('Lakeside Lynx', 'LAL'), team('Granite Gulls', 'GRG')],
    ],
  },
  {
    ...{
      league: 'nfl',
      name: 'NFL',
      offset: 5_400,
      hasDraw: false,
      hasFeed: true,
      periods: 4,
      mostPoints: 45,
    },
    teams: [
      ...([team('Ironport Foxes', 'IPF'), team('Prairie Bisons', 'PRB')] as const),
      ...[team('Summit Owls', 'SUO'), team('Delta Pilots', 'DLP')],
    ],
  },
  {
    ...{
      league: 'epl',
      name: 'EPL',
      offset: 10_800,
      hasDraw: true,
      hasFeed: true,
      periods: 2,
      mostPoints: 4,
    },
    teams: [
      ...([team('Kestrel Rovers', 'KES'), team('Old Quay United', 'OQU')] as const),
      ...[team('Northmill Athletic', 'NMA'), team('Saltmarsh Town', 'SMT')],
    ],
  },
  {
    ...{
      league: 'ipl',
      name: 'IPL',
      offset: 16_200,
      hasDraw: false,
      hasFeed: false,
      periods: 2,
      mostPoints: 220,
    },
    teams: [
      ...([team('Monsoon Kites', 'MKT'), team('Saffron Lions', 'SFL')] as const),
      ...[team('Coral Coast Strikers', 'CCS'), team('Granary Tigers', 'GRT')],
    ],
  },
];

/** A game and its result. Times are unix seconds. */
export interface Game {
  readonly game_id: string;
  readonly key: number;
  readonly league: League;
  readonly home: Team;
  readonly away: Team;
  readonly slug: string;
  readonly starts: number;
  readonly ends: number;
  readonly score: { readonly home: number; readonly away: number };
  readonly isPostponed: boolean;
}

const DAY = 86_400;
const EVERY_LIVE = 21_600;
const LASTS = 9_000;
/** Markets are listed this long before the start. */
export const GAME_LEAD = DAY;
const OLDEST = 28;
/** How long after the end its last events may come. */
const AFTER = 7_200;

/**
 * Games whose markets exist at any moment of the span. Each league has one game every two days before the first start, and four a
 * day after it.
 */
export function gamesBetween(
  seed: string,
  { start, from, until }: { readonly start: number; readonly from: number; readonly until: number },
): Game[] {
  const starts: number[] = [];
  for (let day = OLDEST; day >= 1; day -= 2) starts.push(start - day * DAY - EVERY_LIVE * 2);
  const first = Math.max(-1, Math.floor((from - start - LASTS - AFTER) / EVERY_LIVE) - 1);
  const last = Math.floor((until - start + GAME_LEAD) / EVERY_LIVE);
  for (let index = first; index <= last; index += 1) starts.push(start + index * EVERY_LIVE);
  return LEAGUES.flatMap((league) =>
    starts
      .map((at) => at + league.offset)
      .filter((at) => at - GAME_LEAD < until && at + LASTS + AFTER > from)
      .map((at) => gameOf(seed, league, at)),
  );
}

function gameOf(seed: string, league: League, starts: number): Game {
  const key = keyOf(`${seed} game ${league.league} ${String(starts)}`);
  const draws = new Draws(key);
  const home = draws.of(league.teams);
  const away = league.teams.find((each) => each !== home && draws.oneIn(2)) ?? otherThan(home, league);
  const date = plainDate(starts * MICROS_PER_SECOND);
  const [homeScore, awayScore] = [scoreOf(league, draws), scoreOf(league, draws)];
  const isTied = homeScore === awayScore && !league.hasDraw;
  return {
    game_id: `${league.league}-${String(starts)}`,
    ...{ key, league, home, away, starts, ends: starts + LASTS },
    slug: `${league.league}-${slugOf(away.abbreviation)}-${slugOf(home.abbreviation)}-${date}`,
    score: { home: isTied ? homeScore + 1 : homeScore, away: awayScore },
    isPostponed: draws.oneIn(14),
  };
}

function otherThan(home: Team, { teams }: League): Team {
  const index = teams.indexOf(home);
  return teams[(index + 1) % teams.length] ?? home;
}

function scoreOf({ mostPoints }: League, draws: Draws): number {
  return mostPoints > 10
    ? draws.between(Math.floor(mostPoints / 2), mostPoints)
    : draws.below(mostPoints + 1);
}

export const SCORE_LABEL = 'games';
const SCORE_EVERY = { history: 1_800, live: 20 };

/** The score events of a game with `from <= second < until`. */
export function scoresBetween(
  game: Game,
  { start, from, until }: { readonly start: number; readonly from: number; readonly until: number },
): MarketDataEvent[] {
  const { starts, ends, isPostponed, league } = game;
  const every = starts + LASTS < start ? SCORE_EVERY.history : SCORE_EVERY.live;
  const seconds = [starts - GAME_LEAD];
  if (isPostponed) seconds.push(starts - 3_600);
  else if (league.hasFeed) {
    const first = Math.max(starts, starts + Math.floor((from - starts) / every) * every);
    for (let second = first; second < Math.min(ends, until); second += every) seconds.push(second);
    seconds.push(ends);
  }
  return seconds.filter((second) => from <= second && second < until).map((second) => scoreAt(game, second));
}

const HALF_SHARE = 2;
const BREAK = 600;

function scoreAt(game: Game, second: number): ScoreEvent {
  const at = second * MICROS_PER_SECOND;
  const { league, home, away, starts, ends, slug, game_id } = game;
  const { status, period } = statusAt(game, second);
  const share = Math.min(1, Math.max(0, (second - starts) / (ends - starts)));
  const isBegun = second >= starts && !game.isPostponed && league.hasFeed;
  return {
    ...{ type: 'SCORE', label: SCORE_LABEL, source_id: `${game_id}-${String(second)}` },
    ...{ source_ts: at, received_at: at, game_id },
    content: {
      ...{ league: league.league, home, away, slug, status },
      start_time: isoTime(starts * MICROS_PER_SECOND),
      ...(isBegun
        ? {
            home_score: Math.floor(game.score.home * share),
            away_score: Math.floor(game.score.away * share),
            ...{ period: `P${String(period)}`, period_number: period, periods: league.periods },
            elapsed: `${String(Math.floor((second - starts) / 60))}'`,
          }
        : {}),
      ...(league.hasFeed ? {} : { feed: false }),
      observed_at: isoTime(at),
    },
  };
}

function statusAt(
  { starts, ends, isPostponed, league, key }: Game,
  second: number,
): { readonly status: string; readonly period: number } {
  const { periods } = league;
  if (second < starts) {
    return { status: isPostponed && second > starts - GAME_LEAD ? 'postponed' : 'scheduled', period: 0 };
  }
  const period = Math.min(periods, 1 + Math.floor(((second - starts) / (ends - starts)) * periods));
  if (second >= ends) return { status: 'final', period: periods };
  const half = starts + (ends - starts) / HALF_SHARE;
  if (second >= half && second < half + BREAK) return { status: 'break', period };
  const isLong = !league.hasDraw && key % 6 === 0;
  if (isLong && second >= ends - BREAK) return { status: 'overtime', period: periods + 1 };
  return { status: 'live', period };
}
