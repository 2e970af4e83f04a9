/** An id in a request. Its owner is the provider, which prefixes the key where two providers share the id. */
export interface AskedId {
  readonly id: string;
  readonly owner: string | number;
}

/**
 * Gives each requested id the key of its entry in the reply; repeats are dropped. The first owner of an id gets the plain id,
 * whether or not it knows it, so keys depend on the request alone.
 */
export function byReplyKey<T extends AskedId>(requested: readonly T[]): ReadonlyMap<string, T> {
  const owners = new Map<string, AskedId['owner']>();
  for (const { id, owner } of requested) if (!owners.has(id)) owners.set(id, owner);
  const named = new Set<string>();
  const keyed = new Map<string, T>();
  for (const each of requested) {
    const { id, owner } = each;
    const name = `${String(owner)}:${id}`;
    if (named.has(name)) continue;
    named.add(name);
    let key = owners.get(id) === owner ? id : name;
    if (key !== id) while (owners.has(key) || keyed.has(key)) key = `${String(owner)}:${key}`;
    keyed.set(key, each);
  }
  return keyed;
}
