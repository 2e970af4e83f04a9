/** One thing that is asked for by an id, at a provider that is named in front of it where two share the id. */
export interface AskedId {
  readonly id: string;
  readonly owner: string | number;
}

/**
 * Under which key each is answered, repeated ones once. The first owner that is asked of an id keeps the id itself, whether or not it knows
 * it: what stands under a key is up to the request alone.
 */
export function byReplyKey<T extends AskedId>(asked: readonly T[]): ReadonlyMap<string, T> {
  const owners = new Map<string, AskedId['owner']>();
  for (const { id, owner } of asked) if (!owners.has(id)) owners.set(id, owner);
  const seen = new Set<string>();
  const keyed = new Map<string, T>();
  for (const each of asked) {
    const { id, owner } = each;
    const name = `${String(owner)}:${id}`;
    if (seen.has(name)) continue;
    seen.add(name);
    let key = owners.get(id) === owner ? id : name;
    if (key !== id) while (owners.has(key) || keyed.has(key)) key = `${String(owner)}:${key}`;
    keyed.set(key, each);
  }
  return keyed;
}
