/** A location in the product's source: a part of what `symbol` declares, and its replacement. */
export interface Spoil {
  readonly file: string;
  /** `functionName`, `CONSTANT`, or `ClassName.member`. */
  readonly symbol: string;
  /** `before` is found exactly once within the symbol; spaces and line ends do not matter. */
  readonly replace: readonly [before: string, after: string];
}

/** A mistake that a developer could make and a reviewer overlook. */
export interface PlantedBug extends Spoil {
  readonly name: string;
  /** The mistake, in one sentence. */
  readonly mistake: string;
  /** Further changes that the mistake needs. */
  readonly also?: readonly Spoil[];
  /** The promise that the test finds broken. */
  readonly promise: RegExp;
  readonly foundBy: Finder;
  /** For tests with real processes: arguments, if the usual ones are not enough. */
  readonly options?: string;
}

export const FINDERS = ['simulator', 'campaign', 'fuzz', 'orders'] as const;

/**
 * The test that must find the bug: simulated worlds, the fault campaign on real processes, hostile requests, or
 * traders whose orders are counted.
 */
export type Finder = (typeof FINDERS)[number];
