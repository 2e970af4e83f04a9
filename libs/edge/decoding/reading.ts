export type ValueFault = 'missing' | 'unknown' | 'mismatch' | 'repeated';

/** Where a query or a body does not fit the endpoint. */
export interface FaultLocation {
  /** Names and indices from the outside inwards, as in `['orders', 0, 'price']`. */
  readonly path: readonly (string | number)[];
  readonly reason: ValueFault;
  /** Only where the reader of the value tells more. */
  readonly why?: ValueProblem | undefined;
}

/** What is wrong with a value, for dialects that show it. */
export interface ValueProblem {
  readonly type: string;
  readonly message: string;
  readonly input: unknown;
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
  private readonly noted: FaultLocation[] = [];
  private reason: ValueFault | undefined;
  private why: ValueProblem | undefined;

  constructor(readonly rules: ReadingRules = STRICT) {}

  /** Undefined if nothing was refused, or no decoder noted a path. */
  get location(): FaultLocation | undefined {
    return this.locations[0];
  }

  /** Several only where a reader goes on after the first. */
  get locations(): readonly FaultLocation[] {
    if (this.reason === undefined) return this.noted;
    const path = [...this.inwards].reverse();
    return [
      ...this.noted,
      { path, reason: this.reason, ...(this.why === undefined ? {} : { why: this.why }) },
    ];
  }

  /** The first reason stays: the containers around it only add their part of the path. */
  refuse(name: string | number, reason: ValueFault): void {
    this.reason ??= reason;
    this.inwards.push(name);
  }

  /** By who refuses the value itself, before the containers around it add the path. */
  explain(why: ValueProblem): void {
    this.why ??= why;
  }

  /** A whole location, by a reader that goes on. */
  note(location: FaultLocation): void {
    this.noted.push(location);
  }
}
