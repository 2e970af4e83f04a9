import type { JournalHead } from '#libs/journal/journal.js';
import type { SealedSnapshots } from '#libs/journal/sealed-snapshots.js';
import {
  SNAPSHOT_FORMAT,
  writeMoment,
  type ShardMoment,
} from '#libs/auction/shard/recovery/shard-snapshot.js';

export interface SnapshotKeeperOptions {
  readonly shard: number;
  readonly snapshots: SealedSnapshots;
  /** Events between one snapshot and the next. */
  readonly every: number;
  readonly onFault: (error: unknown) => void;
}

/** Past this a snapshot costs more to read than the journal that it would save reading. */
const MAX_BYTES = 256 * 1024 * 1024;

/** Takes a snapshot now and then, one at a time and off the path of commands; losing one loses nothing. */
export class SnapshotKeeper {
  private last = 0;
  private writing: Promise<void> | undefined;

  constructor(private readonly options: SnapshotKeeperOptions) {}

  /** Where the last snapshot stands, also the one that this shard was recovered from. */
  restoredFrom(sequence: number): void {
    this.last = sequence;
  }

  isDue(sequence: number): boolean {
    return this.writing === undefined && sequence - this.last >= this.options.every;
  }

  /** `head` is the record that the moment stands behind. */
  take(moment: ShardMoment, head: JournalHead): void {
    this.last = moment.sequence;
    this.writing = this.write(moment, head)
      .catch((error: unknown) => {
        this.options.onFault(error);
      })
      .finally(() => {
        this.writing = undefined;
      });
  }

  /** Waits for the snapshot that is being written, if there is one. */
  async settled(): Promise<void> {
    await this.writing;
  }

  private async write(moment: ShardMoment, head: JournalHead): Promise<void> {
    const content = await writeMoment(moment);
    if (content.length > MAX_BYTES) return;
    const { snapshots, shard } = this.options;
    await snapshots.save(shard, head, SNAPSHOT_FORMAT, content);
  }
}
