const BUCKETS = 64;

type Buckets<Value> = readonly (ReadonlyMap<string, Value> | undefined)[];

const NONE: readonly undefined[] = Array.from({ length: BUCKETS }, () => undefined);

/** An immutable map. A copy with one change shares nearly all memory with the original, so each new state is cheap. */
export class FrozenMap<Value> {
  private constructor(
    private readonly buckets: Buckets<Value>,
    readonly size: number,
  ) {}

  static of<Value>(entries: Iterable<readonly [string, Value]> = []): FrozenMap<Value> {
    let map = new FrozenMap<Value>(NONE, 0);
    for (const [key, value] of entries) map = map.with(key, value);
    return map;
  }

  get(key: string): Value | undefined {
    return this.buckets[bucketOf(key)]?.get(key);
  }

  has(key: string): boolean {
    return this.buckets[bucketOf(key)]?.has(key) === true;
  }

  with(key: string, value: Value): FrozenMap<Value> {
    const at = bucketOf(key);
    const bucket = this.buckets[at];
    const grown = this.size + (bucket?.has(key) === true ? 0 : 1);
    return new FrozenMap(this.buckets.with(at, new Map(bucket).set(key, value)), grown);
  }

  without(key: string): FrozenMap<Value> {
    const at = bucketOf(key);
    const bucket = this.buckets[at];
    if (bucket?.has(key) !== true) return this;
    const rest = new Map(bucket);
    rest.delete(key);
    return new FrozenMap(this.buckets.with(at, rest), this.size - 1);
  }

  *values(): IterableIterator<Value> {
    for (const bucket of this.buckets) if (bucket !== undefined) yield* bucket.values();
  }
}

function bucketOf(key: string): number {
  let hash = 0;
  for (let index = 0; index < key.length; index += 1) hash = (hash * 31 + key.charCodeAt(index)) | 0;
  return (hash >>> 0) % BUCKETS;
}
