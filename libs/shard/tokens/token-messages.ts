export interface TokenRequest<Bucket extends string> {
  readonly account: string;
  readonly bucket: Bucket;
}

/** An owner that holds leases, in one epoch of its shard. */
export interface LeaseHolder {
  readonly shard: number;
  readonly epoch: number;
}

/** Asks for tokens in advance, under a number that the holder has not used before in this epoch. */
export interface LeaseWish<Bucket extends string> {
  readonly account: string;
  readonly bucket: Bucket;
  readonly lease: number;
}

/** How many tokens of a lease have been used since it began, and whether the lease is over. */
export type LeaseReport = readonly [lease: number, used: number, done: boolean];

export interface TakeTokens<Bucket extends string> {
  readonly requests: readonly TokenRequest<Bucket>[];
  readonly holder: LeaseHolder;
  readonly wishes: readonly LeaseWish<Bucket>[];
  readonly reports: readonly LeaseReport[];
}

/** Answers `TakeTokens`. `leased` is the size of each lease, in the order of the wishes. */
export interface TokensGranted {
  readonly granted: readonly boolean[];
  readonly leased: readonly number[];
}

/** The home shard needs the final use of these leases: nothing may be taken from them any more. */
export interface RecallLeases {
  readonly epoch: number;
  readonly leases: readonly number[];
}

/** Answers `RecallLeases`, lease by lease; null where the holder does not know the lease. */
export interface LeasesRecalled {
  readonly used: readonly (number | null)[];
}

/** The owner of another shard. Both calls resolve with nothing, or reject, where it does not answer in time. */
export interface TokenPeer<Bucket extends string> {
  /** A number for the current connection; undefined while there is none. */
  readonly connection: number | undefined;
  takeTokens(message: TakeTokens<Bucket>, patienceMillis: number): Promise<TokensGranted | undefined>;
  recallLeases(message: RecallLeases, patienceMillis: number): Promise<LeasesRecalled | undefined>;
}

/** The key under which the leases of one account and bucket are found. */
export function leasedKey(account: string, bucket: string): string {
  return `${bucket}/${account}`;
}
