import type { Snapshot, SnapshotStore } from '#libs/journal/sealed-snapshots.js';

const KEPT = 2;

export class MemorySnapshotStore implements SnapshotStore {
  /** How often a snapshot was returned. */
  found = 0;
  private readonly shards = new Map<number, Snapshot[]>();

  save(shard: number, snapshot: Snapshot): Promise<void> {
    const others = this.newestFirst(shard).filter(({ sequence }) => sequence !== snapshot.sequence);
    const all = [...others, snapshot].sort((a, b) => b.sequence - a.sequence);
    this.shards.set(shard, all.slice(0, KEPT));
    return Promise.resolve();
  }

  latest(shard: number, before = Infinity): Promise<Snapshot | undefined> {
    return Promise.resolve(this.newest(shard, before));
  }

  newest(shard: number, before = Infinity): Snapshot | undefined {
    const found = this.newestFirst(shard).find(({ sequence }) => sequence < before);
    if (found !== undefined) this.found += 1;
    return found;
  }

  private newestFirst(shard: number): readonly Snapshot[] {
    return this.shards.get(shard) ?? [];
  }
}
