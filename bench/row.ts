import type { Ground } from './ground/ground.js';

export interface Settings {
  /** Each figure is the median of this many runs. */
  readonly runs: number;
  /** The duration of one run. */
  readonly seconds: number;
  /** Rows of the larger of two tables of trades. */
  readonly trades: number;
  /** Only checks that everything works: the figures mean nothing. */
  readonly quick: boolean;
  readonly say: (line: string) => void;
}

/**
 * One requirement of a path. `score` is compared with minimum and goal: a ratio to the baseline, or the
 * figure itself.
 */
export interface RowCheck {
  readonly what: string;
  readonly measured: number;
  readonly unit: string;
  readonly baseline?: { readonly name: string; readonly measured: number };
  readonly score: number;
  readonly asks: 'at least' | 'at most';
  /** Both undefined if the baseline is only for comparison. */
  readonly minimum?: number;
  readonly goal?: number;
}

export interface RowOutcome {
  readonly checks: readonly RowCheck[];
  /** Other measurements, to find where the time goes. */
  readonly details: Readonly<Record<string, unknown>>;
}

export interface Row {
  /** The name for `--only`. */
  readonly name: string;
  readonly title: string;
  run(ground: Ground, settings: Settings): Promise<RowOutcome>;
}

export interface Bounds {
  readonly minimum: number;
  readonly goal: number;
}

/** This many times as fast as the baseline. */
export function asFastAs(
  what: string,
  unit: string,
  measured: number,
  baseline: { readonly name: string; readonly measured: number },
  bounds: Bounds,
): RowCheck {
  return { what, unit, measured, baseline, score: measured / baseline.measured, asks: 'at least', ...bounds };
}

/** Next to a baseline that need not be reached. */
export function forComparison(
  what: string,
  unit: string,
  measured: number,
  baseline: { readonly name: string; readonly measured: number },
): RowCheck {
  return { what, unit, measured, baseline, score: measured / baseline.measured, asks: 'at least' };
}

/** At most this many times as long as the baseline. */
export function noSlowerThan(
  what: string,
  unit: string,
  measured: number,
  baseline: { readonly name: string; readonly measured: number },
  bounds: Bounds,
): RowCheck {
  return { what, unit, measured, baseline, score: measured / baseline.measured, asks: 'at most', ...bounds };
}

export function atMost(what: string, unit: string, measured: number, bounds: Bounds): RowCheck {
  return { what, unit, measured, score: measured, asks: 'at most', ...bounds };
}

export function atLeast(what: string, unit: string, measured: number, bounds: Bounds): RowCheck {
  return { what, unit, measured, score: measured, asks: 'at least', ...bounds };
}
