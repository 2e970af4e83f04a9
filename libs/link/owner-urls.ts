import { SHARDS } from '#libs/auction/protocol/routing.js';

/** One address for each shard, in their order. With another number of them, or one of them twice, a shard would be asked where another is. */
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
