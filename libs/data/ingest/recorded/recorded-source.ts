import { open } from 'node:fs/promises';
import type { OnFault } from '#libs/platform/process/log.js';
import { type Clock, pause, repeat, type Cancel } from '#libs/platform/time/clock.js';
import { LABELS_SHARD, PROVIDERS } from '../../rules/providers.js';
import type { RecordedTable } from '../../store/recorded-table.js';
import type { SourceFeed } from '../source.js';
import { FileProgress } from './file-progress.js';
import type { LineSlice } from './line-reader.js';
import { type FoundFile, recordedFilesIn, unlessAbsent } from './recorded-folder.js';
import { RecordedFeed } from './recorded-feed.js';
import { readLine, shardOf } from './recorded-lines.js';
import { RecordedQueue } from './recorded-queue.js';

export interface RecordedPorts {
  readonly table: RecordedTable;
  readonly clock: Clock;
  readonly onFault: OnFault;
}

/** New lines must be read within a second. */
const POLL_MILLIS = 200;
const STORE_MILLIS = 500;
const NANOS_PER_MICRO = 1_000n;

/** Reads recorded files in byte order of their names, and sends each line to its journal. */
export class RecordedSource {
  readonly feeds: readonly SourceFeed[];
  private readonly queues: readonly RecordedQueue[];
  private readonly files = new Map<string, FileProgress>();
  private readonly stopping = new AbortController();
  private running: Promise<void> = Promise.resolve();
  private storing: Promise<void> = Promise.resolve();
  private cancel: Cancel = () => undefined;
  private hasReadAll = false;
  private unapplied: number;

  constructor(
    private readonly folder: string,
    private readonly ports: RecordedPorts,
  ) {
    this.queues = [...PROVIDERS, 'labels'].map(() => new RecordedQueue(ports.clock));
    this.unapplied = this.queues.length;
    this.feeds = this.queues.map(
      (queue, shard) =>
        new RecordedFeed(shard === LABELS_SHARD ? 'labels' : (PROVIDERS[shard] ?? 'labels'), {
          ...{ folder, queue, shard, now: () => this.now() },
        }),
    );
  }

  /** Resumes where the last process stopped. */
  async start(): Promise<void> {
    for (const before of await this.ports.table.all()) {
      this.files.set(before.file, new FileProgress(before.file, before));
    }
    this.running = this.run();
    this.cancel = repeat(this.ports.clock, STORE_MILLIS, () => {
      this.storing = this.store();
      return this.storing;
    });
  }

  /** Call it after the consumers of the feeds have stopped. */
  async stop(): Promise<void> {
    this.stopping.abort();
    for (const queue of this.queues) queue.offer();
    this.cancel();
    await this.running;
    await this.storing;
    await this.store();
  }

  private async run(): Promise<void> {
    const { clock, onFault } = this.ports;
    while (!this.stopping.signal.aborted) {
      try {
        const isWhole = await this.readAll();
        if (isWhole && !this.hasReadAll) this.markEnd();
      } catch (error) {
        onFault(`recorded files in ${this.folder}`, error);
      }
      await pause(clock, POLL_MILLIS);
    }
  }

  /** Resolves with true if every file was read up to the size it had at the start of the pass. */
  private async readAll(): Promise<boolean> {
    const found = await recordedFilesIn(this.folder);
    let isWhole = true;
    for (const file of found) {
      if (this.stopping.signal.aborted) return false;
      try {
        await this.read(file);
      } catch (error) {
        isWhole = false;
        this.ports.onFault(`recorded file ${file.name}`, error);
      }
    }
    return isWhole;
  }

  private async read({ name, path, stats }: FoundFile): Promise<void> {
    const progress = this.files.get(name) ?? new FileProgress(name, undefined);
    this.files.set(name, progress);
    progress.see(stats);
    const { reader } = progress;
    if (reader.offset >= stats.size) return;
    const handle = await open(path).catch(unlessAbsent);
    if (handle === undefined) return;
    try {
      for await (const slice of reader.read(handle, stats.size)) {
        this.handOn(progress, slice);
        for (const queue of this.queues) await queue.room(this.stopping.signal);
        if (this.stopping.signal.aborted) return;
      }
    } finally {
      await handle.close();
    }
  }

  private handOn(progress: FileProgress, { lines, end }: LineSlice): void {
    const slice = progress.take(lines.length, end);
    const receivedAt = this.now();
    for (const [index, line] of lines.entries()) {
      const read = readLine(line, receivedAt);
      if (read.ok) this.queues[shardOf(read.event)]?.add(read.event, slice, line?.length ?? 0);
      else slice.refuse(index, read.reason);
    }
    slice.settle(0);
    for (const queue of this.queues) queue.offer();
  }

  private markEnd(): void {
    this.hasReadAll = true;
    for (const queue of this.queues) queue.markEnd(() => this.applyInherited());
  }

  /** Once the end is applied, everything that earlier processes journaled is applied too. */
  private applyInherited(): void {
    this.unapplied -= 1;
    if (this.unapplied > 0) return;
    for (const file of this.files.values()) file.applyInherited();
  }

  private async store(): Promise<void> {
    const changed = [...this.files.values()].filter((file) => file.takeChange());
    try {
      await this.ports.table.write(changed.map(({ state }) => state));
    } catch (error) {
      for (const file of changed) file.markChanged();
      this.ports.onFault('how far recorded files are read', error);
    }
  }

  private now(): number {
    return Number(this.ports.clock.epochNanos() / NANOS_PER_MICRO);
  }
}
