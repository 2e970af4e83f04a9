export type ValueFault = 'missing' | 'unknown' | 'mismatch' | 'repeated';

/** Where a query or a body does not fit the endpoint. */
export interface FaultLocation {
  /** Names and indices from the outside inwards, as in `['orders', 0, 'price']`. */
  readonly path: readonly (string | number)[];
  readonly reason: ValueFault;
}

/** How decoders treat unknown fields and null. */
export interface ReadingRules {
  readonly unknown: 'refused' | 'ignored';
  /** `absent`: null in an optional field means no value, and in a required one a missing value. */
  readonly nulls: 'refused' | 'absent';
}

const STRICT: ReadingRules = { unknown: 'refused', nulls: 'refused' };

/** One reading of a body or a query. Decoders pass it on, and after a mismatch note its path in it. */
export class Reading {
  private readonly inwards: (string | number)[] = [];
  private reason: ValueFault | undefined;

  constructor(readonly rules: ReadingRules = STRICT) {}

  /** Undefined if nothing was refused, or no decoder noted a path. */
  get location(): FaultLocation | undefined {
    return this.reason === undefined ? undefined : { path: [...this.inwards].reverse(), reason: this.reason };
  }

  /** The first reason stays: the containers around it only add their part of the path. */
  refuse(name: string | number, reason: ValueFault): void {
    this.reason ??= reason;
    this.inwards.push(name);
  }
}
