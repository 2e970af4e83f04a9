import type { DataIngest } from '#libs/data/ingest/data-ingest.js';
import type { Snapshots } from '#libs/data/ingest/snapshots.js';
import type { StartTable } from '#libs/data/store/start-table.js';
import type { Health } from '#libs/platform/internal-server/polled-readiness.js';
import type { OnFault } from '#libs/platform/process/log.js';
import { type Clock, repeat } from '#libs/platform/time/clock.js';

const CHECK_MILLIS = 200;

interface ReadinessParts {
  readonly running: Pick<DataIngest, 'isCaughtUp'>;
  readonly snapshots: Pick<Snapshots, 'take'>;
  readonly start: StartTable;
  readonly clock: Clock;
  readonly onFault: OnFault;
}

/** Ready once everything the sources held at the start is projected and in snapshots, and `data.start` says so to the gateways. */
export class StartReadiness {
  private isReady = false;

  constructor(private readonly stopping: AbortSignal) {}

  health(): Health {
    if (this.stopping.aborted) return { ok: false, status: 'draining' };
    return this.isReady ? { ok: true, status: 'ready' } : { ok: false, status: 'catching_up' };
  }

  /** Returns a function that stops it. */
  follow({ running, snapshots, start, clock, onFault }: ReadinessParts): () => void {
    return repeat(clock, CHECK_MILLIS, async () => {
      if (this.isReady || !running.isCaughtUp) return;
      try {
        await snapshots.take();
        await start.write(true);
        this.isReady = true;
      } catch (error) {
        onFault('readiness', error);
      }
    });
  }
}
