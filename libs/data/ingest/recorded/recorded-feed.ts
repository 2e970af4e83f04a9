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

/** Yields the events of recorded files that belong to one journal. */
export class RecordedFeed implements SourceFeed {
  readonly source = 'recorded';

  constructor(
    readonly of: string,
    private readonly ports: RecordedFeedPorts,
  ) {}

  /** Positions are stored per file, not in cursors, because lines of one file go to several journals. */
  async *follow(_cursor: string | undefined, stop: AbortSignal): AsyncGenerator<SourceBatch> {
    const { queue } = this.ports;
    for (let batch = await queue.next(stop); batch !== undefined; batch = await queue.next(stop)) {
      yield batch;
      // The consumer asks for the next batch only after this one is durable.
      queue.settle();
    }
  }

  /** Reads all files, however far they are read. Books are left out, because only their newest state is kept. */
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
