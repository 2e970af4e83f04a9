import type { BucketName, LeasedBucket } from '#libs/auction/protocol/protocol.js';

export const LEASED: readonly LeasedBucket[] = ['quote', 'withdraw'];

export function isLeased(bucket: BucketName): bucket is LeasedBucket {
  return LEASED.some((leased) => leased === bucket);
}

/** Under which leases of one account and bucket are found. */
export function leasedKey(account: string, bucket: LeasedBucket): string {
  return `${bucket}/${account}`;
}
