export type ValueFault = 'missing' | 'unknown' | 'mismatch' | 'repeated';

/** Where a query or body is invalid, and why. */
export interface FaultLocation {
  /** Names and indices from the outside inwards, as in `['orders', 0, 'price']`. */
  readonly path: readonly (string | number)[];
  readonly reason: ValueFault;
  /** Details, if the decoder of the value has any. */
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

/** The rules and the faults of reading one body or query. Decoders pass it on, and add the path of a mismatch to it. */
export class Reading {
  private readonly pathFromInside: (string | number)[] = [];
  private readonly notedLocations: FaultLocation[] = [];
  private reason: ValueFault | undefined;
  private why: ValueProblem | undefined;

  constructor(readonly rules: ReadingRules = STRICT) {}

  /** Undefined if nothing was refused, or if no decoder added a path. */
  get location(): FaultLocation | undefined {
    return this.locations[0];
  }

  /** More than one only if a decoder continues after the first fault. */
  get locations(): readonly FaultLocation[] {
    if (this.reason === undefined) return this.notedLocations;
    const path = [...this.pathFromInside].reverse();
    return [
      ...this.notedLocations,
      { path, reason: this.reason, ...(this.why === undefined ? {} : { why: this.why }) },
    ];
  }

  /** The first reason is kept. The enclosing containers only add their parts of the path. */
  refuse(name: string | number, reason: ValueFault): void {
    this.reason ??= reason;
    this.pathFromInside.push(name);
  }

  /** Called by the decoder that refuses the value, before the enclosing containers add the path. */
  explain(why: ValueProblem): void {
    this.why ??= why;
  }

  /** Adds a complete location. Called by a decoder that continues after a fault. */
  note(location: FaultLocation): void {
    this.notedLocations.push(location);
  }
}
