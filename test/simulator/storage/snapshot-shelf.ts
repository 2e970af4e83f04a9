import type { Snapshot, SnapshotStore } from '#libs/journal/sealed-snapshots.js';
import type { MemorySnapshotStore } from '#libs/testing/journals/memory-snapshots.js';
import type { Host } from '../kernel/host.js';
import type { SimulatedDatabase } from './database.js';
import { SimulatedSession } from './session.js';

/** Snapshots in the database, as seen by one process. */
export class SnapshotShelf implements SnapshotStore {
  constructor(
    private readonly kept: MemorySnapshotStore,
    private readonly database: SimulatedDatabase,
    private readonly host: Host,
  ) {}

  save(shard: number, snapshot: Snapshot): Promise<void> {
    return this.asked(() => {
      void this.kept.save(shard, snapshot);
    });
  }

  latest(shard: number, before?: number): Promise<Snapshot | undefined> {
    return this.asked(() => this.kept.newest(shard, before));
  }

  private asked<T>(act: () => T): Promise<T> {
    const session = new SimulatedSession(this.database, this.host);
    return session.send<T>((done) => {
      done(act());
    });
  }
}
