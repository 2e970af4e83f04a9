import type { FaultRound } from './rounds.js';

export interface Missed {
  readonly times: number;
  /** The reason of the last time. */
  readonly why: string;
}

/** What a campaign has done, by kind. */
export interface Tally {
  /** Kinds that were requested, by name or because all were. */
  readonly wanted: readonly string[];
  /** Whether the caller named them. */
  readonly isChosen: boolean;
  /** Kinds that are impossible on this machine or storage, and why. */
  readonly notRun: ReadonlyMap<string, string>;
  readonly rounds: readonly FaultRound[];
}

/** How often each kind happened. */
export function doneIn(rounds: readonly FaultRound[]): Map<string, number> {
  return countsOf(rounds.flatMap(({ done }) => done));
}

/** How often each missed kind was missed. */
export function missedIn(rounds: readonly FaultRound[]): Map<string, Missed> {
  const all = rounds.flatMap(({ missed }) => [...missed]);
  const times = countsOf(all.map(([kind]) => kind));
  return new Map(all.map(([kind, why]) => [kind, { times: times.get(kind) ?? 0, why }]));
}

/** Kinds that were possible, but whose turn did not come. */
export function notReached({ wanted, notRun, rounds }: Tally): string[] {
  const tried = new Set(rounds.flatMap(({ kinds }) => kinds));
  return wanted.filter((kind) => !notRun.has(kind) && !tried.has(kind));
}

/** Kinds that were tried and never happened. */
export function alwaysMissed({ rounds }: Tally): string[] {
  const done = doneIn(rounds);
  return [...missedIn(rounds).keys()].filter((kind) => !done.has(kind));
}

/** Checks that have something to check in even the shortest campaign, unless no users act. */
const SEEN_IN_ANY = [
  'acknowledged CREATE',
  'acknowledged SUBMIT',
  'acknowledged REVISE',
  'acknowledged WITHDRAW',
  'acknowledged CANCEL',
  'answers to withdraw-alls',
  'auctions read at rest',
  'awards',
  'closes and expiries',
  'ids shown to makers',
  'reads',
  'simultaneous promises',
  'records of journals',
  'repeats',
  'reservations',
  'settlements',
  'stories on streams',
  'streams resumed',
  'stream events',
  'timelines read at rest',
  'trades on the ledger',
];

/**
 * Reasons, as text, why the run must not claim that nothing was found. `checked` is known after the checks: how
 * often each one had something to check.
 */
export function shortcomings(tally: Tally, checked: ReadonlyMap<string, number> | undefined): string[] {
  const unseen = checked === undefined ? [] : SEEN_IN_ANY.filter((what) => !checked.has(what));
  const nothing = unseen.map((what) => `there was nothing of this to check: ${what}`);
  if (doneIn(tally.rounds).size === 0) return ['not one fault was done', ...nothing];
  const missed = missedIn(tally.rounds);
  const missing = (tally.isChosen ? alwaysMissed(tally) : []).map(
    (kind) => `${kind} was asked for and missed, ${missed.get(kind)?.times ?? 0} times of as many`,
  );
  return [...missing, ...nothing];
}

function countsOf(names: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}
