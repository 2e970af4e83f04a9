import { ACCOUNT_LIMITS, QUOTE_PER_AUCTION_LIMIT } from '#libs/auction/protocol/limits.js';

export interface LimitView {
  readonly bucket: string;
  readonly scope: 'ACCOUNT' | 'ACCOUNT_AND_AUCTION';
  readonly rate_per_second: number;
  readonly burst: number;
  readonly available?: number;
}

export function accountLimits(available: Readonly<Record<string, number>>, factor: number): LimitView[] {
  const ofAccount = Object.entries(ACCOUNT_LIMITS).map(([bucket, limit]): LimitView => ({
    bucket,
    scope: 'ACCOUNT',
    rate_per_second: limit.rate_per_second * factor,
    burst: limit.burst * factor,
    available: available[bucket] ?? 0,
  }));
  const perAuction: LimitView = {
    bucket: 'quote_per_auction',
    scope: 'ACCOUNT_AND_AUCTION',
    rate_per_second: QUOTE_PER_AUCTION_LIMIT.rate_per_second * factor,
    burst: QUOTE_PER_AUCTION_LIMIT.burst * factor,
  };
  return [...ofAccount, perAuction];
}
