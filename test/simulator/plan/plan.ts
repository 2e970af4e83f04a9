/** Names of the processes that own the shards, in their order. */
export const OWNERS = ['owner-0', 'owner-1', 'owner-2'];

/** Something that somebody does, at a moment of simulated time. What exactly follows from the deed's own seed. */
export interface PlannedAction {
  readonly kind: 'DEED';
  readonly atMillis: number;
  readonly account: string;
  readonly act:
    'CREATE' | 'CANCEL' | 'SUBMIT' | 'REVISE' | 'WITHDRAW' | 'WITHDRAW_ALL' | 'READ' | 'LIST' | 'FOLLOW';
  readonly key: string;
  readonly isTwice: boolean;
  /** It is said once more, so many milliseconds later. */
  readonly repeatMillis?: number;
  /** Its key comes once more, with other content. */
  readonly isAmbiguous?: boolean;
  /** Of a quote or a cancel, where it is to be about an auction of this shard. */
  readonly shard?: number;
  /** Of a quote, where it is to be about the auction that the create under this key has made. */
  readonly about?: string;
  /** Of a revision or a withdrawal, where somebody tries it with a quote that is not its own. */
  readonly isForeign?: boolean;
  /** Of a create, where the plan wants to know it. */
  readonly closesAt?: string;
  /** Of a create, who may know whom; nothing where that is left to its default. */
  readonly identity?: object;
}

export type FaultName =
  | 'CRASH'
  | 'PAUSE'
  | 'LONG_PAUSE'
  | 'PROJECTORS_PAUSE'
  | 'CRASH_UNPROJECTED'
  | 'DEPOSE'
  | 'RIVAL'
  | 'CUT'
  | 'PARTITION'
  | 'CLOCK_JUMP'
  | 'DATABASE_RESTART'
  | 'DATABASE_OUTAGE'
  | 'LEDGER_HELD'
  | 'BROKER_OUTAGE'
  | 'GATEWAY_BEHIND'
  | 'OWNER_BEHIND'
  | 'STREAM_CUT'
  | 'STREAM_AWAY'
  | 'READER_STOPS'
  | 'MARKET_CLOSES';

/** Something that goes wrong, and for how long. */
export interface PlannedFault {
  readonly kind: 'FAULT';
  readonly atMillis: number;
  readonly name: FaultName;
  readonly target: string;
  /** A process; of a market that closes its name, unless it is fog's, and of a stream that stays away its account. */
  readonly other: string;
  readonly millis: number;
}

export type Incident = PlannedAction | PlannedFault;
