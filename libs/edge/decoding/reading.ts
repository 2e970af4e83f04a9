export type ValueFault = 'missing' | 'unknown' | 'mismatch' | 'repeated';

/** Where a query or a body is not what the endpoint takes. */
export interface FaultLocation {
  /** Names and indices from the outside inwards, as in `['orders', 0, 'price']`. */
  readonly path: readonly (string | number)[];
  readonly reason: ValueFault;
}

/** What decoders do with what they do not know, and with null. */
export interface ReadingRules {
  readonly unknown: 'refused' | 'ignored';
  /** `absent`: null in an optional field is no value at all, in a required one a missing one. */
  readonly nulls: 'refused' | 'absent';
}

const STRICT: ReadingRules = { unknown: 'refused', nulls: 'refused' };

/** One reading of a body or a query. Decoders pass it on, and on the way back from a mismatch note where that was. */
export class Reading {
  private readonly inwards: (string | number)[] = [];
  private reason: ValueFault | undefined;

  constructor(readonly rules: ReadingRules = STRICT) {}

  /** Undefined where nothing was refused, or no decoder said where. */
  get location(): FaultLocation | undefined {
    return this.reason === undefined ? undefined : { path: [...this.inwards].reverse(), reason: this.reason };
  }

  /** The first reason stands: the containers around it only add where they hold it. */
  refuse(name: string | number, reason: ValueFault): void {
    this.reason ??= reason;
    this.inwards.push(name);
  }
}
