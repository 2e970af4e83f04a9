import { pause, type Clock } from '#libs/platform/time/clock.js';
import type { ExecutorTask } from '../protocol/cell-protocol.js';
import type { CellClient } from './cell-client.js';

export interface TaskLoopPorts {
  readonly cell: Pick<CellClient, 'claim'>;
  readonly carryOut: (task: ExecutorTask) => Promise<void>;
  readonly clock: Clock;
  readonly concurrency: number;
  readonly onFault: (what: string, error: unknown) => void;
}

const UNREACHABLE_MILLIS = 250;
const FULL_MILLIS = 1_000;
const STOP_MILLIS = 5_000;

/**
 * Takes what one cell has to do and carries it out, so many tasks at once. It keeps nothing: what it was given and has not reported the
 * cell gives out again.
 */
export class TaskLoop {
  private readonly inHand = new Map<string, Promise<void>>();
  private stopped = false;

  constructor(private readonly ports: TaskLoopPorts) {}

  get carrying(): number {
    return this.inHand.size;
  }

  start(): void {
    void this.run();
  }

  /** What has begun is finished and reported where that is quick; nothing more is begun. */
  async stop(): Promise<void> {
    this.stopped = true;
    await Promise.race([Promise.all(this.inHand.values()), pause(this.ports.clock, STOP_MILLIS)]);
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
    if (this.stopped || this.inHand.has(task.task_id)) return;
    const carried = this.ports
      .carryOut(task)
      .catch((error: unknown) => {
        this.ports.onFault(task.kind, error);
      })
      .finally(() => {
        this.inHand.delete(task.task_id);
      });
    this.inHand.set(task.task_id, carried);
  }
}
