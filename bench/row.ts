import type { Ground } from './ground/ground.js';

export interface Settings {
  /** Each figure is the median of so many runs. */
  readonly runs: number;
  /** How long one run lasts. */
  readonly seconds: number;
  /** Rows of the larger of two tables of trades. */
  readonly trades: number;
  /** Only to see that everything works: figures mean nothing. */
  readonly quick: boolean;
  readonly say: (line: string) => void;
}

/** One thing that is asked of a path. `score` is what minimum and goal speak of: a ratio to the baseline, or the figure itself. */
export interface RowCheck {
  readonly what: string;
  readonly measured: number;
  readonly unit: string;
  readonly baseline?: { readonly name: string; readonly measured: number };
  readonly score: number;
  readonly asks: 'at least' | 'at most';
  /** Both undefined where nothing is asked, and the baseline is only to be seen beside it. */
  readonly minimum?: number;
  readonly goal?: number;
}

export interface RowOutcome {
  readonly checks: readonly RowCheck[];
  /** Everything else that was seen, for who wants to know where the time goes. */
  readonly details: Readonly<Record<string, unknown>>;
}

export interface Row {
  /** As `--only` knows it. */
  readonly name: string;
  readonly title: string;
  run(ground: Ground, settings: Settings): Promise<RowOutcome>;
}

export interface Bounds {
  readonly minimum: number;
  readonly goal: number;
}

/** So many times as fast as the baseline. */
export function asFastAs(
  what: string,
  unit: string,
  measured: number,
  baseline: { readonly name: string; readonly measured: number },
  bounds: Bounds,
): RowCheck {
  return { what, unit, measured, baseline, score: measured / baseline.measured, asks: 'at least', ...bounds };
}

/** Beside a baseline that nobody has to keep up with. */
export function forComparison(
  what: string,
  unit: string,
  measured: number,
  baseline: { readonly name: string; readonly measured: number },
): RowCheck {
  return { what, unit, measured, baseline, score: measured / baseline.measured, asks: 'at least' };
}

/** No more than so many times what the baseline takes. */
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
