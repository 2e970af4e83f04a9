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

/** Makes a snapshot of each provider's open markets every half minute, measured from start to start. */
export class Snapshots {
  private readonly table = new SnapshotTable();
  private readonly pauses: PauseTable;
  private cancel: Cancel = () => undefined;
  private isStopped = false;
  private running: Promise<void> = Promise.resolve();

  constructor(private readonly ports: SnapshotPorts) {
    this.pauses = new PauseTable(ports.pool);
  }

  /** Makes the first snapshot at once. */
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

  /** Makes one snapshot for each provider that is not paused. A failure at one provider does not stop the others. */
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
