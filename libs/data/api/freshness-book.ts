import type { IncomingMessage } from 'node:http';
import { NANOS_PER_MICRO, NANOS_PER_MILLI } from '#libs/base/instant.js';
import type { Headers } from '#libs/edge/dialect/dialect.js';
import type { Clock } from '#libs/platform/time/clock.js';
import { PacedPoll } from '#libs/platform/time/paced-poll.js';
import type { Provider } from '../rules/providers.js';
import { isoTime, MICROS_PER_SECOND } from '../rules/times.js';
import type { FreshnessTable, IngestProgress } from '../store/freshness-table.js';
import type { FreshnessNotes } from './checks.js';
import type { DataReply } from './replies.js';

const PACE = { busyMillis: 250, idleMillis: 2_000 } as const;
const MAX_AGE = 1_000n * NANOS_PER_MILLI;
const STALE_AFTER = 5 * MICROS_PER_SECOND;

type Progress = ReadonlyMap<Provider, IngestProgress>;
const NOTHING: Progress = new Map();

/**
 * Caches how far each provider is applied. A request gets the state of the moment it arrived, so what its handler reads is at least
 * as fresh.
 */
export class FreshnessBook implements FreshnessNotes {
  private readonly noted = new WeakMap<IncomingMessage, Progress>();
  private readonly polls: PacedPoll;
  private current: Progress = NOTHING;
  private knownAt: bigint | undefined;
  private reading: Promise<void> | undefined;

  constructor(
    private readonly table: Pick<FreshnessTable, 'all'>,
    private readonly clock: Clock,
  ) {
    this.polls = new PacedPoll(clock, PACE, () => this.read());
  }

  start(): void {
    this.polls.start();
  }

  stop(): void {
    this.polls.stop();
  }

  note(request: IncomingMessage): void | Promise<void> {
    this.polls.wanted();
    if (this.isFresh()) {
      this.noted.set(request, this.current);
      return undefined;
    }
    return this.read().then(() => {
      // If the state is still unknown, the data count as stale.
      this.noted.set(request, this.isFresh() ? this.current : NOTHING);
    });
  }

  headersFor({ shows }: DataReply, request: IncomingMessage): Headers {
    const progress = this.noted.get(request) ?? NOTHING;
    const now = Number(this.clock.epochNanos() / NANOS_PER_MICRO);
    const each = [...shows].map((provider) => progress.get(provider));
    const times = each.map((current) => current?.asOf ?? undefined);
    const isStale = each.some((current) => isStaleAt(current, now));
    return {
      ...(times.includes(undefined)
        ? {}
        : { 'x-data-as-of': isoTime(Math.min(...times.filter((time) => time !== undefined))) }),
      ...(isStale ? { 'x-data-stale': 'true' } : {}),
    };
  }

  private isFresh(): boolean {
    return this.knownAt !== undefined && this.clock.monotonicNanos() - this.knownAt <= MAX_AGE;
  }

  /** Concurrent requests share one query. A failure shows in the age of the state. */
  private read(): Promise<void> {
    this.reading ??= this.query().finally(() => {
      this.reading = undefined;
    });
    return this.reading;
  }

  private async query(): Promise<void> {
    const began = this.clock.monotonicNanos();
    try {
      this.current = await this.table.all();
      this.knownAt = began;
    } catch {
      // `knownAt` stays as it was.
    }
  }
}

function isStaleAt(current: IngestProgress | undefined, now: number): boolean {
  if (current === undefined || current.asOf === null) return true;
  if (current.isRecorded) return false;
  return current.state === 'paused' || current.isQuarantined || now - current.asOf > STALE_AFTER;
}
