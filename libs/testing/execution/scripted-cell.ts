import { randomUUID } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type {
  CellLink,
  CellRequest,
  ExecutorRequest,
  ExecutorTask,
} from '#libs/execution/protocol/cell-protocol.js';
import { fromWire, toWire } from '#libs/execution/protocol/wire.js';
import { LinkClient } from '#libs/link/link-client.js';
import type { LinkReply } from '#libs/link/link-protocol.js';
import { LinkServer } from '#libs/link/link-server.js';
import { listen } from '#libs/platform/internal-server/internal-server.js';
import { SystemClock } from '#libs/platform/time/system-clock.js';
import { eventually } from '../eventually.js';

type Of<Op extends ExecutorRequest['op']> = Extract<ExecutorRequest, { op: Op }>;
type Less<Task> = Task extends ExecutorTask ? Omit<Task, 'task_id'> : never;
const TOKEN = 'a-service-token-of-a-scripted-cell';
const clock = new SystemClock();

/** A cell over a real link. It gives out the tasks that a test sets, and records the requests that it receives. */
export class ScriptedCell {
  readonly told: ExecutorRequest[] = [];
  /** Called with a submission before the cell accepts it. */
  onBegin: (submission: Of<'begin_submission'>) => boolean | Promise<boolean> = () => true;
  /** The status with which it answers links. */
  linkStatus = 200;
  private readonly waiting: ExecutorTask[] = [];
  private readonly claims: ((tasks: ExecutorTask[]) => void)[] = [];

  private constructor(
    private readonly server: Server,
    readonly link: CellLink,
  ) {}

  static async open(): Promise<ScriptedCell> {
    const server = createServer();
    await listen(server, 0, '127.0.0.1');
    const { port } = server.address() as AddressInfo;
    const link: CellLink = new LinkClient<CellRequest>({
      ...{ url: `http://127.0.0.1:${port}`, serviceToken: () => TOKEN, peer: 'executor-0', clock },
      write: toWire,
    });
    const cell = new ScriptedCell(server, link);
    new LinkServer<ExecutorRequest>({
      ...{ serviceTokens: () => [TOKEN], read: fromWire, clock },
      handle: (request) => cell.handle(request),
      onFault: () => undefined,
    }).attach(server);
    await eventually(() => {
      if (!link.connected) throw new Error('not linked yet');
    });
    return cell;
  }

  close(): void {
    this.link.close();
    this.server.close();
    this.server.closeAllConnections();
  }

  /** Gives out a task. Resolves with the executor's report of it. */
  async give(task: Less<ExecutorTask>): Promise<Of<'report'>> {
    const task_id = `${task.kind}/1/${randomUUID()}`;
    const claim = this.claims.shift();
    if (claim === undefined) this.waiting.push({ ...task, task_id });
    else claim([{ ...task, task_id }]);
    return eventually(() => {
      const report = this.all('report').find((one) => one.task_id === task_id);
      if (report === undefined) throw new Error(`no report of ${task.kind}`);
      return report;
    }, 20_000);
  }

  all<Op extends ExecutorRequest['op']>(op: Op): Of<Op>[] {
    return this.told.filter((request): request is Of<Op> => request.op === op);
  }

  private async handle(request: ExecutorRequest): Promise<LinkReply> {
    this.told.push(request);
    switch (request.op) {
      case 'claim':
        return { status: 200, body: toWire({ tasks: await this.claimed(request) }) };
      case 'begin_submission':
        return { status: (await this.onBegin(request)) ? 200 : 409, body: toWire({ attempt: 1 }) };
      case 'link_account':
        return { status: this.linkStatus, body: toWire({ linked_at: 'now' }) };
      default:
        return { status: 200, body: toWire({ position: this.told.length, linked_at: 'now' }) };
    }
  }

  private claimed({ max, wait_ms }: Of<'claim'>): Promise<ExecutorTask[]> {
    if (max === 0) for (const claim of this.claims.splice(0)) claim([]);
    const tasks = this.waiting.splice(0, max);
    if (tasks.length > 0 || wait_ms === 0) return Promise.resolve(tasks);
    return new Promise((resolve) => {
      const claim = (tasks: ExecutorTask[]): void => {
        cancel();
        resolve(tasks);
      };
      const cancel = clock.after(wait_ms, () => {
        this.claims.splice(this.claims.indexOf(claim), 1);
        resolve([]);
      });
      this.claims.push(claim);
    });
  }
}
