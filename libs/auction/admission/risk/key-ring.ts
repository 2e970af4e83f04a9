import { accountKey, isSameResource, type AccountKey, type ResourceKey } from './resource-key.js';

/** Beyond so many all are forgotten, and made again when they are asked for. */
const MOST_KEYS = 100_000;

/**
 * Keys that were made before. Each quote asks for the same few several times, and putting a name together, with finding what is kept
 * under a text that nobody has looked up before, costs more than the sums that are done with it.
 */
export class AccountKeyCache {
  /** By account, by venue, and there by what `placeOf` says. */
  private readonly accounts = new Map<string, Map<string, Map<string, AccountKey>>>();
  private size = 0;

  of(account: string, resource: ResourceKey): AccountKey {
    const known = this.accounts.get(account)?.get(resource.venue)?.get(placeOf(resource));
    return known !== undefined && isSameResource(known, resource) ? known : this.make(account, resource);
  }

  private make(account: string, resource: ResourceKey): AccountKey {
    if (this.size >= MOST_KEYS) {
      this.accounts.clear();
      this.size = 0;
    }
    const key = accountKey(account, resource);
    const venues = inside(this.accounts, account, () => new Map<string, Map<string, AccountKey>>());
    inside(venues, resource.venue, () => new Map<string, AccountKey>()).set(placeOf(resource), key);
    this.size += 1;
    return key;
  }
}

/** Only tokens have an asset, and none is called like a resource; if one were, it would be made each time. */
function placeOf({ resource, asset }: ResourceKey): string {
  return asset === '' ? resource : asset;
}

function inside<T>(maps: Map<string, T>, name: string, empty: () => T): T {
  const known = maps.get(name);
  if (known !== undefined) return known;
  const made = empty();
  maps.set(name, made);
  return made;
}
