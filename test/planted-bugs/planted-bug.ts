/** A place in the product's source: a part of what `symbol` declares, and what stands there instead. */
export interface Spoil {
  readonly file: string;
  /** `functionName`, `CONSTANT`, or `ClassName.member`. */
  readonly symbol: string;
  /** The first stands exactly once within the symbol; blanks and line ends do not matter. */
  readonly replace: readonly [before: string, after: string];
}

/** A mistake that somebody could make and a reviewer overlook. */
export interface PlantedBug extends Spoil {
  readonly name: string;
  /** The mistake, in one sentence. */
  readonly mistake: string;
  /** What the mistake needs besides. */
  readonly also?: readonly Spoil[];
  /** The promise that is found broken. */
  readonly promise: RegExp;
  readonly foundBy: Finder;
  /** For what runs real processes: what they are called with, where their usual call does not do. */
  readonly options?: string;
}

export const FINDERS = ['simulator', 'campaign', 'fuzz', 'orders'] as const;

/** What looks for the bug: simulated worlds, the campaign of faults on real processes, hostile requests, or traders whose orders are counted. */
export type Finder = (typeof FINDERS)[number];
