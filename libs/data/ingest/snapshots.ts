import type { Pool } from 'pg';
import { withTransaction } from '#libs/platform/database/postgres.js';
import type { OnFault } from '#libs/platform/process/log.js';
import type { Cancel, Clock } from '#libs/platform/time/clock.js';
import { PROVIDERS } from '../rules/providers.js';
import { PauseTable } from '../store/pause-table.js';
import { SnapshotTable } from '../store/snapshot-table.js';

export interface SnapshotPorts {
  readonly pool: Pool;
  readonly clock: Clock;
  readonly onFault: OnFault;
}

const EVERY_MILLIS = 30_000;
const NANOS_PER_MICRO = 1_000n;
const NANOS_PER_MILLI = 1_000_000n;

/** Takes down what is open at every provider, from start to start half a minute apart. */
export class Snapshots {
  private readonly table = new SnapshotTable();
  private readonly pauses: PauseTable;
  private cancel: Cancel = () => undefined;
  private isStopped = false;
  private running: Promise<void> = Promise.resolve();

  constructor(private readonly ports: SnapshotPorts) {
    this.pauses = new PauseTable(ports.pool);
  }

  /** The first one at once. */
  start(): void {
    const { clock, onFault } = this.ports;
    const began = clock.monotonicNanos();
    void this.take()
      .catch((error: unknown) => onFault('snapshots', error))
      .finally(() => {
        const took = Number((clock.monotonicNanos() - began) / NANOS_PER_MILLI);
        if (this.isStopped) return;
        this.cancel = clock.after(Math.max(0, EVERY_MILLIS - took), () => {
          this.start();
        });
      });
  }

  async stop(): Promise<void> {
    this.isStopped = true;
    this.cancel();
    await this.running;
  }

  /** One of every provider that is not paused. Resolves when all are there; what fails at one provider keeps no other from its own. */
  take(): Promise<void> {
    const taken = this.running.then(() => this.takeAll());
    this.running = taken.catch(() => undefined);
    return taken;
  }

  private async takeAll(): Promise<void> {
    const { pool, clock } = this.ports;
    const paused = await this.pauses.paused();
    const failures: unknown[] = [];
    for (const provider of PROVIDERS.filter((each) => !paused.has(each))) {
      try {
        await withTransaction(pool, 'read committed', (client) =>
          this.table.renew(client, provider, Number(clock.epochNanos() / NANOS_PER_MICRO)),
        );
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0)
      throw new AggregateError(failures, `${String(failures.length)} providers have no new snapshot`);
  }
}
