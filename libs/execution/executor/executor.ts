import type { CellLink, ExecutorTask } from '../protocol/cell-protocol.js';
import type { Signer } from '../protocol/signer-protocol.js';
import type { VenueId } from '../rules/venues.js';
import type { Clock } from '#libs/platform/time/clock.js';
import type { Venue } from '../venues/port.js';
import { LinkedAccounts } from './linked-accounts.js';
import { BreakerBoard } from './breaker-board.js';
import { CellClient } from './cell-client.js';
import { ExecutorLinkHandler } from './executor-link.js';
import { HealthReporter } from './health-reporter.js';
import { OrderTasks, type CallMeter } from './order-tasks.js';
import type { PracticeCredit } from './practice-credit.js';
import { Reconciler } from './reconciler.js';
import { TaskLoop } from './task-loop.js';
import { TransferTasks } from './transfer-tasks.js';

export interface ExecutorPorts {
  /** One link to each cell, in the order of the cells. */
  readonly links: readonly Pick<CellLink, 'request'>[];
  readonly venues: ReadonlyMap<VenueId, Venue>;
  readonly signer: Signer;
  readonly clock: Clock;
  /** A new name for each start, so that cells see at once that the former executor is gone. */
  readonly name: string;
  /** How many tasks of each cell run at the same time. */
  readonly concurrency: number;
  readonly meter: CallMeter;
  readonly credit?: PracticeCredit | undefined;
  readonly onFault: (what: string, error: unknown) => void;
}

/**
 * Carries out the cells' decisions at the venues, and reports what the venues show. It keeps no state that a restart
 * could lose.
 */
export class Executor {
  readonly breakers: BreakerBoard;
  readonly reconciler: Reconciler;
  readonly link: ExecutorLinkHandler;
  private readonly health: HealthReporter;
  private readonly loops: readonly TaskLoop[];
  private readonly orders: OrderTasks;
  private readonly transfers: TransferTasks;

  constructor(ports: ExecutorPorts) {
    const { links, venues, signer, clock, name, concurrency, meter, onFault, credit } = ports;
    const cells = links.map((link) => new CellClient(link, name, clock));
    const accounts = new LinkedAccounts(venues, signer);
    this.breakers = new BreakerBoard(clock, () => {
      this.health.tell();
    });
    this.health = new HealthReporter({ cells, venues, breakers: this.breakers, clock, onFault });
    this.reconciler = new Reconciler({ accounts, clock, onFault });
    this.orders = new OrderTasks({ accounts, breakers: this.breakers, meter, clock });
    this.transfers = new TransferTasks(accounts, clock);
    const { breakers, reconciler } = this;
    this.link = new ExecutorLinkHandler({ cells, accounts, reconciler, breakers, signer, credit });
    this.loops = cells.map(
      (cell) =>
        new TaskLoop({ cell, clock, concurrency, onFault, carryOut: (task) => this.carryOut(cell, task) }),
    );
  }

  get carrying(): number {
    return this.loops.reduce((sum, loop) => sum + loop.carrying, 0);
  }

  start(): void {
    this.health.start();
    for (const loop of this.loops) loop.start();
  }

  async stop(): Promise<void> {
    this.health.stop();
    this.reconciler.stop();
    await Promise.all(this.loops.map((loop) => loop.stop()));
  }

  private carryOut(cell: CellClient, task: ExecutorTask): Promise<void> {
    switch (task.kind) {
      case 'reconcile':
        return this.reconciler.carryOut(cell, task);
      case 'transfer':
        return this.transfers.carryOut(cell, task);
      case 'submit':
      case 'cancel':
      case 'amend':
      case 'query':
        this.reconciler.follow(cell, task.user_id, task.venue);
        return this.orders.carryOut(cell, task);
    }
  }
}
