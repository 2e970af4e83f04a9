import { get } from 'node:http';
import type { JournalWriter } from '#libs/journal/journal.js';
import type { KeptShard, PostgresJournal } from '#libs/journal/postgres/postgres-journal.js';
import { pause, type Clock } from '#libs/platform/time/clock.js';
import { isCodedError, StartFault } from '#libs/platform/process/start-fault.js';
import type { SeedCluster, SeedPlace } from './place.js';

const POLL_MILLIS = 100;
const STOP_WITHIN_NANOS = 15_000_000_000n;
/** An owner with many open auctions has much to read. */
const READY_WITHIN_NANOS = 300_000_000_000n;
const ANSWER_WITHIN_MS = 2_000;

type Owner = SeedCluster['processes'][number];

/**
 * Takes shards from their owners and gives them back. The owners stop in order and their launcher restarts
 * them, but they wait because this process holds the shards.
 */
export class ShardRelay {
  private writers: readonly JournalWriter[] = [];

  constructor(
    private readonly place: SeedPlace,
    private readonly journal: PostgresJournal,
    private readonly clock: Clock,
  ) {}

  async take(): Promise<readonly JournalWriter[]> {
    const owners = ownersOf(this.place.cluster);
    const kept: KeptShard[] = [];
    try {
      for (const shard of owners.keys()) kept.push(await this.journal.keep(shard));
      await Promise.all(owners.map((owner) => this.end(owner)));
      this.writers = await Promise.all(kept.map((one) => one.open()));
      return this.writers;
    } catch (error) {
      await Promise.all(kept.map((one) => one.letGo().catch(() => undefined)));
      throw error;
    }
  }

  /** Lets the owners open their shards. */
  async giveBack(): Promise<void> {
    await Promise.all(this.writers.map((writer) => writer.close()));
    this.writers = [];
  }

  async untilReady(): Promise<void> {
    const deadline = this.clock.monotonicNanos() + READY_WITHIN_NANOS;
    for (;;) {
      const owners = ownersOf(await this.place.look());
      const ready = await Promise.all(owners.map(({ health_url: url }) => isReady(url)));
      if (ready.every(Boolean)) return;
      if (this.clock.monotonicNanos() > deadline)
        throw new StartFault('the owners did not become ready again');
      await pause(this.clock, POLL_MILLIS);
    }
  }

  private async end({ name, pid }: Owner): Promise<void> {
    const deadline = this.clock.monotonicNanos() + STOP_WITHIN_NANOS;
    for (let signal: NodeJS.Signals | 0 = 'SIGTERM'; isThere(pid, signal); signal = 0) {
      if (this.clock.monotonicNanos() > deadline) throw new StartFault(`${name} does not stop`);
      await pause(this.clock, POLL_MILLIS);
    }
  }
}

function ownersOf({ processes }: SeedCluster): Owner[] {
  return processes.filter(({ kind }) => kind === 'owner').sort((a, b) => (a.name < b.name ? -1 : 1));
}

function isThere(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(pid, signal);
    return true;
  } catch (error) {
    if (isCodedError(error) && error.code === 'ESRCH') return false;
    throw error;
  }
}

function isReady(healthUrl: string): Promise<boolean> {
  const url = healthUrl.replace('/healthz', '/readyz');
  return new Promise((resolve) => {
    const request = get(url, { agent: false, timeout: ANSWER_WITHIN_MS }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    });
    request.on('timeout', () => request.destroy());
    request.on('error', () => {
      resolve(false);
    });
  });
}
