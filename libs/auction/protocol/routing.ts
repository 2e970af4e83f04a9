import { hash } from 'node:crypto';

export const SHARDS = 3;

/** The shard of a create call, and so of its auction. The same for every repeat of the call. */
export function shardOfCreate(account: string, idempotencyKey: string): number {
  return shardOf(hash('sha256', `${account}\0${idempotencyKey}`, 'buffer'));
}

/** The cache is emptied at this size. */
const MAX_HOMES = 100_000;
const homes = new Map<string, number>();

/** The shard that keeps an account's token buckets and answers its originator preflights. Needed for every command, so it is cached. */
export function homeShard(account: string): number {
  const cached = homes.get(account);
  if (cached !== undefined) return cached;
  if (homes.size >= MAX_HOMES) homes.clear();
  const home = shardOf(hash('sha256', account, 'buffer'));
  homes.set(account, home);
  return home;
}

/** Auction and quote ids begin with the digit of their shard. */
export function shardOfId(id: string): number {
  return Number(id[0]);
}

function shardOf(digest: Buffer): number {
  return Number(digest.readBigUInt64BE(0) % BigInt(SHARDS));
}

/** Check for settings: one distinct address for each shard. Otherwise a request would reach the owner of another shard. */
export function ownerUrlsAreOnePerShard({
  OWNER_URLS: urls,
}: {
  readonly OWNER_URLS: readonly string[];
}): string | undefined {
  if (urls.length !== SHARDS) {
    return `OWNER_URLS is wrong: it has ${urls.length} addresses, and there are ${SHARDS} shards with one each`;
  }
  const addresses = urls.map((url) => new URL(url).host);
  const twice = addresses.find((address, shard) => addresses.indexOf(address) !== shard);
  return twice === undefined ? undefined : `OWNER_URLS is wrong: ${twice} stands for two shards`;
}
