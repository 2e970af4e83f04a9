import type { BucketLimit } from '#libs/shard/tokens/buckets.js';
import type { BucketName } from './protocol.js';

export const ACCOUNT_LIMITS: Readonly<Record<BucketName, BucketLimit>> = {
  create: { rate_per_second: 2, burst: 4 },
  cancel: { rate_per_second: 5, burst: 10 },
  quote: { rate_per_second: 50, burst: 100 },
  withdraw: { rate_per_second: 100, burst: 500 },
};
export const QUOTE_PER_AUCTION_LIMIT: BucketLimit = { rate_per_second: 10, burst: 20 };

export const BUCKETS: readonly BucketName[] = ['create', 'cancel', 'quote', 'withdraw'];
/** Tokens of the other buckets are taken so seldom that leases of them would save nothing. */
export const LEASED_BUCKETS: readonly BucketName[] = ['quote', 'withdraw'];
