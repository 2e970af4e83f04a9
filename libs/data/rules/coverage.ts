import { ratio } from './scales.js';
import { isoTime, MICROS_PER_SECOND } from './times.js';
import type { TradeGap } from './trades.js';

interface History {
  readonly listed_at?: number | undefined;
  /** From when the source is complete: from the listing, from a time that was backfilled to, or undefined if unknown. */
  readonly reaches: 'listing' | number | undefined;
  /** The time of the market's oldest trade. */
  readonly oldest?: number | undefined;
  /** Older trades have been dropped. */
  readonly retained_from?: number | undefined;
}

/** The time from which a market's trades are complete; null if unknown. */
export function historyFrom({ listed_at, reaches, oldest, retained_from }: History): number | null {
  const from = listed_at === undefined ? oldest : (wholeSince(listed_at, reaches) ?? oldest);
  if (from === undefined) return null;
  return Math.max(from, retained_from ?? from);
}

function wholeSince(listed_at: number, reaches: History['reaches']): number | undefined {
  return typeof reaches === 'number' ? Math.max(listed_at, reaches) : reaches && listed_at;
}

export interface Coverage {
  readonly isComplete: boolean;
  readonly history_from: number | null;
  /** The number of gaps that the window touches. */
  readonly gaps: number;
}

/** The coverage of a clamped window. */
export function coverageOf(
  window: { readonly start: number; readonly end: number },
  history_from: number | null,
  gaps: readonly TradeGap[],
): Coverage {
  const touched = gaps.filter(({ from, to }) => from <= window.end && to >= window.start).length;
  const isWhole = history_from !== null && window.start >= history_from;
  return { isComplete: isWhole && touched === 0, history_from, gaps: touched };
}

/** The value of the header `X-Data-Coverage`. */
export function coverageText({ isComplete, history_from, gaps }: Coverage): string {
  if (isComplete) return 'complete';
  const from = history_from === null ? [] : [`from=${isoTime(history_from)}`];
  return ['partial', ...from, `gaps=${String(gaps)}`].join('; ');
}

interface CoveredWindow {
  readonly window_seconds: number;
  readonly now: number;
  /** Whether anything traded in the window. */
  readonly hasTrades: boolean;
  readonly oldest: number | undefined;
  readonly gaps: readonly TradeGap[];
}

/** The percentage of the window (now - w, now] that lies after the oldest trade and in no gap. */
export function coveragePercent({ window_seconds, now, hasTrades, oldest, gaps }: CoveredWindow): number {
  if (!hasTrades || oldest === undefined) return 0;
  const window = window_seconds * MICROS_PER_SECOND;
  const from = Math.max(now - window, oldest);
  const covered = now - from - inGaps(gaps, from, now);
  return ratio(100n * BigInt(covered), BigInt(window));
}

/** Gaps may overlap when trades arrived out of order. */
function inGaps(gaps: readonly TradeGap[], from: number, to: number): number {
  let end = from;
  let sum = 0;
  for (const gap of [...gaps].sort((left, right) => left.from - right.from)) {
    const start = Math.max(gap.from, end);
    end = Math.max(end, Math.min(gap.to, to));
    sum += Math.max(0, end - start);
  }
  return sum;
}
