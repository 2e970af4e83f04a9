import { accountKey, isSameResource, type AccountKey, type ResourceKey } from './resource-key.js';

/** Beyond this number the cache is cleared. */
const MOST_KEYS = 100_000;

/**
 * Caches keys. Each quote needs the same few keys several times, and building their names costs more than the
 * arithmetic.
 */
export class AccountKeyCache {
  /** By account, then venue, then `entryName`. */
  private readonly accounts = new Map<string, Map<string, Map<string, AccountKey>>>();
  private size = 0;

  of(account: string, resource: ResourceKey): AccountKey {
    const known = this.accounts.get(account)?.get(resource.venue)?.get(entryName(resource));
    return known !== undefined && isSameResource(known, resource) ? known : this.make(account, resource);
  }

  private make(account: string, resource: ResourceKey): AccountKey {
    if (this.size >= MOST_KEYS) {
      this.accounts.clear();
      this.size = 0;
    }
    const key = accountKey(account, resource);
    const venues = getOrCreate(this.accounts, account, () => new Map<string, Map<string, AccountKey>>());
    getOrCreate(venues, resource.venue, () => new Map<string, AccountKey>()).set(entryName(resource), key);
    this.size += 1;
    return key;
  }
}

/** Only tokens have an asset. An asset named like a resource would only miss the cache. */
function entryName({ resource, asset }: ResourceKey): string {
  return asset === '' ? resource : asset;
}

function getOrCreate<T>(maps: Map<string, T>, name: string, empty: () => T): T {
  const known = maps.get(name);
  if (known !== undefined) return known;
  const made = empty();
  maps.set(name, made);
  return made;
}
