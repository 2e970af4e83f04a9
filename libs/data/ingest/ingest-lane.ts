import { JournalFailure } from '#libs/journal/journal-errors.js';
import type { Clock } from '#libs/platform/time/clock.js';
import type { OnFault } from '#libs/platform/process/log.js';
import type { MarketDataEvent } from '../rules/events.js';
import type { AlarmKind } from '../store/alarm-table.js';
import type { IngestProgress, IngestState } from '../store/freshness-table.js';
import { AppliedProgress } from './applied-progress.js';
import { ShardIngest, type ShardIngestPorts } from './shard-ingest.js';
import type { SourceFeed, Quarantined, SourceBatch } from './source.js';

export interface IngestLanePorts extends Omit<ShardIngestPorts, 'onRefused'> {
  readonly shard: number;
  readonly feeds: readonly SourceFeed[];
  /** The progress that was stored before this process started. */
  readonly before: IngestProgress | undefined;
  readonly onAlarm: (kind: AlarmKind, detail: string) => void;
  readonly onQuarantine: (body: Quarantined) => Promise<void>;
}

const RETRY_MILLIS = 1_000;

interface UnappliedBatch {
  /** The last journal record of the batch. */
  readonly sequence: number;
  readonly books: number;
  readonly onApplied: () => void;
}

/** Writes all sources of one provider to its journal and its tables. A failure here does not stop other providers. */
export class IngestLane {
  private readonly stopping = new AbortController();
  private readonly onFault: OnFault;
  private ingest: ShardIngest | undefined;
  private isPaused = false;
  private hasFailed = false;
  private isQuarantined: boolean;
  private conflicts: number;
  private quarantined: number;
  private head: number;
  private applied: number;
  private reachesFrom: number | null;
  private readonly newest: AppliedProgress;
  /** By live source: the time up to which it is complete. */
  private readonly asOf = new Map<string, AppliedProgress>();
  /** By source: the last record at the time when the source had nothing more. */
  private readonly caughtUp = new Map<string, number>();
  /** In the order of their records. */
  private readonly unapplied: UnappliedBatch[] = [];
  private running: Promise<void> = Promise.resolve();

  constructor(private readonly ports: IngestLanePorts) {
    const { before, onFault } = ports;
    this.onFault = (what, error) => onFault(`${this.name}: ${what}`, error);
    this.isQuarantined = before?.isQuarantined ?? false;
    this.conflicts = before?.conflicts ?? 0;
    this.quarantined = before?.quarantined ?? 0;
    this.head = before?.journalHead ?? 0;
    this.applied = before?.applied ?? 0;
    this.reachesFrom = before?.reachesFrom ?? null;
    this.newest = new AppliedProgress(before?.newestSourceTs ?? null);
  }

  get name(): string {
    return this.ports.feeds[0]?.of ?? String(this.ports.shard);
  }

  start(isPaused: boolean): void {
    this.isPaused = isPaused;
    this.running = this.run();
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    await this.running;
  }

  /** While paused, events are journaled but not projected. */
  async pause(): Promise<void> {
    if (this.isPaused) return;
    this.isPaused = true;
    await this.ingest?.pause();
  }

  async resume(): Promise<void> {
    if (!this.isPaused) return;
    this.isPaused = false;
    await this.ingest?.resume();
  }

  /** Whether everything is projected that the sources held when they were first read to the end. */
  get isCaughtUp(): boolean {
    return this.ports.feeds.every(({ source }) => (this.caughtUp.get(source) ?? Infinity) <= this.position());
  }

  /** Reads a span again from all sources without moving their cursors. Known events change nothing. */
  async backfill(from: number, to: number): Promise<void> {
    for (const feed of this.ports.feeds) {
      for await (const item of feed.backfill(from, to, this.stopping.signal)) {
        if ('quarantined' in item) await this.quarantine(item);
        else
          await this.write(`backfill of ${feed.source}`, {
            events: item.events,
            cursor: item.cursor,
            isCaughtUp: false,
          });
      }
    }
  }

  /** The volumes that the venue reports; undefined if no source reports any. */
  async volumes(): Promise<ReadonlyMap<string, bigint> | undefined> {
    for (const feed of this.ports.feeds) {
      const volumes = await feed.volumes?.(this.stopping.signal);
      if (volumes !== undefined) return volumes;
    }
    return undefined;
  }

  progress(): IngestProgress {
    const { feeds } = this.ports;
    const applied = this.position();
    this.notifyApplied(applied);
    const head = (this.head = Math.max(this.head, this.ingest?.head ?? 0));
    const isRecorded = feeds.every(({ source }) => source === 'recorded');
    const newestSourceTs = this.newest.at(applied);
    return {
      source: feeds.map(({ source }) => source).join(',') || null,
      state: this.state(),
      ...{ isRecorded, isQuarantined: this.isQuarantined, newestSourceTs, applied },
      asOf: isRecorded ? newestSourceTs : this.liveAsOf(applied),
      ...{ journalHead: head, lagEvents: Math.max(0, head - applied), gaps: 0 },
      ...{ conflicts: this.conflicts, quarantined: this.quarantined },
      reachesListing: feeds.every(({ source }) => source !== 'practice'),
      reachesFrom: this.reachesFrom,
    };
  }

  /** Calls `onApplied` for applied batches. Books count as applied once they are stored. */
  private notifyApplied(applied: number): void {
    const stored = this.ports.books?.storedBatches ?? 0;
    let next = this.unapplied[0];
    while (next !== undefined && next.sequence <= applied && next.books <= stored) {
      this.unapplied.shift();
      next.onApplied();
      next = this.unapplied[0];
    }
  }

  private state(): IngestState {
    if (this.hasFailed) return 'failed';
    return this.isPaused ? 'paused' : 'running';
  }

  /** The time up to which all live sources are complete: that of the slowest. */
  private liveAsOf(applied: number): number | null {
    const times = [...this.asOf.values()].flatMap((progress) => progress.at(applied) ?? []);
    return times.length === 0 ? (this.ports.before?.asOf ?? null) : Math.min(...times);
  }

  private position(): number {
    this.applied = Math.max(this.applied, this.ingest?.position ?? 0);
    return this.applied;
  }

  private async run(): Promise<void> {
    const { signal } = this.stopping;
    while (!isStopped(signal)) {
      try {
        await this.runOnce();
      } catch (error) {
        this.hasFailed = true;
        this.onFault('journal', error);
      }
      if (!isStopped(signal)) await waitToRetry(this.ports.clock, signal);
    }
  }

  /** Runs until the journal cannot be written or everything must stop. */
  private async runOnce(): Promise<void> {
    const { shard, feeds, onAlarm } = this.ports;
    const ingest = await ShardIngest.open(shard, {
      ...this.ports,
      onFault: this.onFault,
      onRefused: (detail) => onAlarm('refused', detail),
    });
    const ended = new AbortController();
    const signal = AbortSignal.any([this.stopping.signal, ended.signal]);
    this.ingest = ingest;
    try {
      await (this.isPaused ? ingest.pause() : ingest.resume());
      this.hasFailed = false;
      await Promise.all([untilAborted(signal), ...feeds.map((feed) => this.runFeed(feed, signal))]);
    } finally {
      ended.abort();
      this.ingest = undefined;
      await ingest.stop();
    }
  }

  /** A source that ends or fails is followed again from its last cursor. Only a failed journal ends this. */
  private async runFeed(feed: SourceFeed, signal: AbortSignal): Promise<void> {
    while (!isStopped(signal)) {
      try {
        await this.followOnce(feed, signal);
      } catch (error) {
        if (error instanceof JournalFailure) throw error;
        if (!isStopped(signal)) this.onFault(`source ${feed.source}`, error);
      }
      if (!isStopped(signal)) await waitToRetry(this.ports.clock, signal);
    }
  }

  private async followOnce(feed: SourceFeed, signal: AbortSignal): Promise<void> {
    for await (const item of feed.follow(this.ingest?.writer.cursor(feed.source), signal)) {
      if (isStopped(signal)) return;
      if ('quarantined' in item) await this.quarantine(item);
      else await this.take(feed, item);
    }
  }

  private async take({ source }: SourceFeed, batch: SourceBatch): Promise<void> {
    const sequence = await this.write(source, batch);
    this.isQuarantined = false;
    const { onApplied } = batch;
    if (onApplied !== undefined) this.unapplied.push({ sequence, books: this.booksOf(batch), onApplied });
    const { reachesFrom: from } = batch;
    if (from !== undefined) this.reachesFrom = Math.min(this.reachesFrom ?? from, from);
    if (batch.asOf !== undefined) this.asOfProgress(source).add(sequence, batch.asOf);
    if (batch.isCaughtUp && !this.caughtUp.has(source)) this.caughtUp.set(source, sequence);
  }

  /** How many batches of books must be stored before this batch counts as applied. */
  private booksOf({ events }: SourceBatch): number {
    return events.some(({ type }) => type === 'BOOK') ? (this.ports.books?.batches ?? 0) : 0;
  }

  /** Resolves with the sequence of the batch's last record. */
  private async write(source: string, batch: SourceBatch): Promise<number> {
    if (this.ingest === undefined) throw new Error('the journal is not open');
    const { sequence, conflicts } = await this.ingest.take(source, batch);
    const newest = newestOf(batch.events);
    if (newest !== undefined) this.newest.add(sequence, newest);
    this.conflicts += conflicts;
    if (conflicts > 0)
      this.ports.onAlarm('conflict', `${source}: a known event came again with different content`);
    return sequence;
  }

  private asOfProgress(source: string): AppliedProgress {
    const known = this.asOf.get(source);
    if (known !== undefined) return known;
    const progress = new AppliedProgress(null);
    this.asOf.set(source, progress);
    return progress;
  }

  private async quarantine(body: Quarantined): Promise<void> {
    this.isQuarantined = true;
    this.quarantined += 1;
    this.ports.onAlarm('quarantine', body.quarantined);
    await this.ports.onQuarantine(body);
  }
}

function newestOf(events: readonly MarketDataEvent[]): number | undefined {
  return events.length === 0
    ? undefined
    : events.reduce((newest, event) => Math.max(newest, event.source_ts), 0);
}

function isStopped(signal: AbortSignal): boolean {
  return signal.aborted;
}

/** Waits before the next attempt to reach a source or open the journal. */
function waitToRetry(clock: Clock, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      cancel();
      signal.removeEventListener('abort', end);
      resolve();
    };
    const cancel = clock.after(RETRY_MILLIS, end);
    signal.addEventListener('abort', end);
  });
}

function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => {
      resolve();
    });
    if (signal.aborted) resolve();
  });
}
