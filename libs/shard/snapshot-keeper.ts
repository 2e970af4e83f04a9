import type { JournalHead } from '#libs/journal/journal.js';
import type { SealedSnapshots } from '#libs/journal/sealed-snapshots.js';

export interface SnapshotKeeperOptions<Content> {
  readonly shard: number;
  readonly snapshots: SealedSnapshots;
  /** Changes with every change of what `write` produces. Snapshots of another format are then ignored. */
  readonly format: number;
  /** Should yield to the event loop in between, so that no command waits for it. */
  readonly write: (content: Content) => Promise<Buffer>;
  /** Events between one snapshot and the next. */
  readonly every: number;
  readonly onFault: (error: unknown) => void;
}

/** Above this size, reading the snapshot costs more than reading the journal instead. */
const MAX_BYTES = 256 * 1024 * 1024;

/** Takes snapshots one at a time, in the background. Losing one loses nothing, because the journal has everything. */
export class SnapshotKeeper<Content> {
  private last = 0;
  private writing: Promise<void> | undefined;

  constructor(private readonly options: SnapshotKeeperOptions<Content>) {}

  /** The position of the snapshot from which this shard was recovered. */
  restoredFrom(sequence: number): void {
    this.last = sequence;
  }

  isDue(sequence: number): boolean {
    return this.writing === undefined && sequence - this.last >= this.options.every;
  }

  /** `head` is the last record that `content` includes. */
  take(content: Content, head: JournalHead): void {
    this.last = head.sequence;
    this.writing = this.write(content, head)
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

  private async write(content: Content, head: JournalHead): Promise<void> {
    const { snapshots, shard, format } = this.options;
    const bytes = await this.options.write(content);
    if (bytes.length <= MAX_BYTES) await snapshots.save(shard, head, format, bytes);
  }
}
