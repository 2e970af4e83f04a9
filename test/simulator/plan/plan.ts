/** The processes that own the shards, in order. */
export const OWNERS = ['owner-0', 'owner-1', 'owner-2'];

/** An action of a user at a moment of simulated time. Its details follow from its own seed. */
export interface PlannedAction {
  readonly kind: 'DEED';
  readonly atMillis: number;
  readonly account: string;
  readonly act:
    'CREATE' | 'CANCEL' | 'SUBMIT' | 'REVISE' | 'WITHDRAW' | 'WITHDRAW_ALL' | 'READ' | 'LIST' | 'FOLLOW';
  readonly key: string;
  readonly isTwice: boolean;
  /** The command is sent again after this many milliseconds. */
  readonly repeatMillis?: number;
  /** The key is used again with other content. */
  readonly isAmbiguous?: boolean;
  /** For a quote or a cancel: an auction of this shard. */
  readonly shard?: number;
  /** For a quote: the auction created under this key. */
  readonly about?: string;
  /** For a revision or withdrawal: a quote that belongs to another account. */
  readonly isForeign?: boolean;
  /** For a create, if the plan sets it. */
  readonly closesAt?: string;
  /** For a create: identity disclosure; absent for the default. */
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

/** A fault, and how long it lasts. */
export interface PlannedFault {
  readonly kind: 'FAULT';
  readonly atMillis: number;
  readonly name: FaultName;
  readonly target: string;
  /** A process. For a market that closes: its name, or empty for fog. For a stream that stays away: its account. */
  readonly other: string;
  readonly millis: number;
}

export type Incident = PlannedAction | PlannedFault;
