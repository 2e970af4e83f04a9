import { open } from 'node:fs/promises';
import type { MarketDataEvent } from '../../rules/events.js';
import type { SourceBatch, SourceFeed } from '../source.js';
import { LineReader, type LineSlice } from './line-reader.js';
import { type FoundFile, recordedFilesIn, unlessAbsent } from './recorded-folder.js';
import { readLine, shardOf } from './recorded-lines.js';
import type { RecordedQueue } from './recorded-queue.js';

interface RecordedFeedPorts {
  readonly folder: string;
  readonly queue: RecordedQueue;
  readonly shard: number;
  /** Microseconds. */
  readonly now: () => number;
}

/** What recorded files hold for one journal. */
export class RecordedFeed implements SourceFeed {
  readonly source = 'recorded';

  constructor(
    readonly of: string,
    private readonly ports: RecordedFeedPorts,
  ) {}

  /** Where files were read up to is stored with their names, and not in cursors: lines of one file go to several journals. */
  async *follow(_cursor: string | undefined, stop: AbortSignal): AsyncGenerator<SourceBatch> {
    const { queue } = this.ports;
    for (let batch = await queue.next(stop); batch !== undefined; batch = await queue.next(stop)) {
      yield batch;
      // Whoever asks for the next one has made this one durable.
      queue.settle();
    }
  }

  /** From all files, however far they are read. Of books only the newest state counts, which is known. */
  async *backfill(from: number, to: number, stop: AbortSignal): AsyncGenerator<SourceBatch> {
    for (const file of await recordedFilesIn(this.ports.folder)) {
      for await (const { lines } of slicesOf(file)) {
        if (stop.aborted) return;
        const events = lines.flatMap((line) => this.within(line, from, to));
        if (events.length > 0) yield { events, cursor: `backfill of ${file.name}`, isCaughtUp: false };
      }
    }
  }

  private within(line: Buffer | undefined, from: number, to: number): MarketDataEvent[] {
    const read = readLine(line, this.ports.now());
    if (!read.ok || read.event.type === 'BOOK' || shardOf(read.event) !== this.ports.shard) return [];
    const { source_ts: time } = read.event;
    return time >= from && time <= to ? [read.event] : [];
  }
}

async function* slicesOf({ path, stats }: FoundFile): AsyncGenerator<LineSlice> {
  const handle = await open(path).catch(unlessAbsent);
  if (handle === undefined) return;
  try {
    yield* new LineReader(0).read(handle, stats.size);
  } finally {
    await handle.close();
  }
}
