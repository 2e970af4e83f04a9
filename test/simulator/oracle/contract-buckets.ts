/** Holds so many tokens at most, and gets so many each second. */
export interface Bucket {
  /** Whom it belongs to, and for what. */
  readonly owner: string;
  readonly burst: number;
  readonly perSecond: number;
  /** Whether other shards may have tokens of it in advance (decision 84). */
  readonly isLeased: boolean;
}

export interface MeteredCommand {
  readonly operation: string;
  readonly account: string;
  readonly auctionId: string;
}

const QUOTE = { name: 'quote', burst: 100, perSecond: 50, isLeased: true };
const WITHDRAW = { name: 'withdraw', burst: 500, perSecond: 100, isLeased: true };
/** By operation, as the contract has them; of quotes one of the account, and one of the account in the auction. */
const OF_ACCOUNT: Readonly<Record<string, Omit<Bucket, 'owner'> & { readonly name: string }>> = {
  CREATE: { name: 'create', burst: 4, perSecond: 2, isLeased: false },
  CANCEL: { name: 'cancel', burst: 10, perSecond: 5, isLeased: false },
  SUBMIT: QUOTE,
  REVISE: QUOTE,
  WITHDRAW,
  WITHDRAW_ALL: WITHDRAW,
};
const IN_AUCTION = { burst: 20, perSecond: 10, isLeased: false };
const QUOTING: ReadonlySet<string> = new Set(['SUBMIT', 'REVISE']);

/** Which buckets a command takes a token of. */
export function bucketsOf({ operation, account, auctionId }: MeteredCommand): readonly Bucket[] {
  const ofAccount = OF_ACCOUNT[operation];
  if (ofAccount === undefined) return [];
  const { name, ...rule } = ofAccount;
  const first = { ...rule, owner: `${name}/${account}` };
  return QUOTING.has(operation)
    ? [first, { ...IN_AUCTION, owner: `quote/${account}/${auctionId}` }]
    : [first];
}
