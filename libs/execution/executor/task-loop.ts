import { pause, type Clock } from '#libs/platform/time/clock.js';
import type { ExecutorTask } from '../protocol/cell-protocol.js';
import type { CellClient } from './cell-client.js';

export interface TaskLoopPorts {
  readonly cell: Pick<CellClient, 'claim' | 'report'>;
  readonly carryOut: (task: ExecutorTask) => Promise<void>;
  readonly clock: Clock;
  readonly concurrency: number;
  readonly onFault: (what: string, error: unknown) => void;
}

const UNREACHABLE_MILLIS = 250;
const FULL_MILLIS = 1_000;
const STOP_MILLIS = 5_000;

/**
 * Claims tasks of one cell and runs several at once. It keeps no state: the cell hands out a task again if it gets no
 * report.
 */
export class TaskLoop {
  private readonly inHand = new Map<string, Promise<void>>();
  private stopped = false;
  private running: Promise<void> = Promise.resolve();

  constructor(private readonly ports: TaskLoopPorts) {}

  get carrying(): number {
    return this.inHand.size;
  }

  start(): void {
    this.running = this.run();
  }

  /** Starts nothing more, returns tasks that still arrive, and waits a limited time for running tasks. */
  async stop(): Promise<void> {
    this.stopped = true;
    // Ends the open claim. If the cell cannot be reached, there is none.
    void this.ports.cell.claim(0).catch(() => undefined);
    const ended = this.running.then(() => Promise.all(this.inHand.values()));
    await Promise.race([ended, pause(this.ports.clock, STOP_MILLIS)]);
  }

  private async run(): Promise<void> {
    while (!this.stopped) {
      const room = this.ports.concurrency - this.inHand.size;
      if (room <= 0) {
        await Promise.race([...this.inHand.values(), pause(this.ports.clock, FULL_MILLIS)]);
        if (this.inHand.size < this.ports.concurrency) continue;
      }
      const tasks = await this.claim(Math.max(room, 0));
      if (tasks === undefined) await pause(this.ports.clock, UNREACHABLE_MILLIS);
      for (const task of tasks ?? []) this.take(task);
    }
  }

  private async claim(room: number): Promise<readonly ExecutorTask[] | undefined> {
    try {
      return await this.ports.cell.claim(room);
    } catch (error) {
      this.ports.onFault('claim', error);
      return undefined;
    }
  }

  private take(task: ExecutorTask): void {
    if (this.inHand.has(task.task_id)) return;
    const work = this.stopped ? this.giveBack(task) : this.ports.carryOut(task);
    const carried = work
      .catch((error: unknown) => {
        this.ports.onFault(task.kind, error);
      })
      .finally(() => {
        this.inHand.delete(task.task_id);
      });
    this.inHand.set(task.task_id, carried);
  }

  /**
   * Nothing was sent. An order to submit goes to the next executor at once. The cell checks other order tasks again.
   */
  private giveBack(task: ExecutorTask): Promise<void> {
    const isOfOrder = 'terms' in task;
    const order = isOfOrder ? { order_id: task.terms.order_id } : {};
    const report =
      isOfOrder && task.kind !== 'submit'
        ? ({ what: 'doubtful', reason: 'the executor has been stopped' } as const)
        : ({ what: 'returned' } as const);
    return this.ports.cell.report(task.task_id, { ...order, report });
  }
}
