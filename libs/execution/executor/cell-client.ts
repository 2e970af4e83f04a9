import { NANOS_PER_MILLI } from '#libs/base/instant.js';
import type { LinkReply } from '#libs/link/link-protocol.js';
import type { Clock } from '#libs/platform/time/clock.js';
import { pause } from '#libs/platform/time/clock.js';
import type {
  CellLink,
  ExecutorRequest,
  ExecutorTask,
  TaskReport,
  VenueHealth,
} from '../protocol/cell-protocol.js';
import { fromWire } from '../protocol/wire.js';
import type { VenueCall } from '../rules/order.js';

type Asked<Op extends ExecutorRequest['op']> = Omit<Extract<ExecutorRequest, { op: Op }>, 'op' | 'executor'>;

export interface Reporting {
  readonly order_id?: string;
  readonly call?: VenueCall;
  readonly report: TaskReport;
}

const WAIT_MILLIS = 2_000;
/** The link must wait longer than the cell takes to answer. */
const PATIENCE_MILLIS = WAIT_MILLIS + 4_000;
const AGAIN_MILLIS = 250;
/** Long enough to write one journal record, and short compared with the time left to send a task. */
const BEGIN_MILLIS = 1_500;
/** After this many tries the task's lease has ended, and the cell queries the venue. */
const REPORT_TRIES = 60;
const NO_ANSWER = 500;

/** The cell does not answer, or not as expected. It may still have received the request. */
export class CellUnavailable extends Error {
  override readonly name = 'CellUnavailable';
}

/** The executor's client of one cell. */
export class CellClient {
  constructor(
    private readonly link: Pick<CellLink, 'request'>,
    private readonly executor: string,
    private readonly clock: Clock,
  ) {}

  /**
   * Waits for tasks. A claim with `max` 0 only shows that this executor is alive, and ends its earlier claim. Without
   * claims the cell takes the tasks away.
   */
  async claim(max: number): Promise<readonly ExecutorTask[]> {
    const wait_ms = max === 0 ? 0 : WAIT_MILLIS;
    const reply = await this.ask({ op: 'claim', executor: this.executor, max, wait_ms }, PATIENCE_MILLIS);
    const body = bodyOf(reply);
    if (!isClaimed(body)) throw new CellUnavailable('the cell gives out something else than tasks');
    return body.tasks;
  }

  /**
   * True once the submission is durable, false if it must not be sent. A lost answer is requested again, and the cell
   * recognises the task. Undefined if no answer came in time: the order must not be sent now.
   */
  async begin(submission: Asked<'begin_submission'>, withinMillis: number): Promise<boolean | undefined> {
    const request = { op: 'begin_submission', executor: this.executor, ...submission } as const;
    const deadline = this.clock.monotonicNanos() + BigInt(withinMillis) * NANOS_PER_MILLI;
    while (this.clock.monotonicNanos() < deadline) {
      try {
        const { status } = await this.ask(request, BEGIN_MILLIS);
        if (status < NO_ANSWER) return status === 200;
      } catch (error) {
        if (!(error instanceof CellUnavailable)) throw error;
      }
      await pause(this.clock, AGAIN_MILLIS);
    }
    return undefined;
  }

  /** Sent again until the cell confirms it. If the cell no longer knows the task, no report is needed. */
  async report(task_id: string, reporting: Reporting): Promise<void> {
    await this.requestUntilAnswered({ op: 'report', executor: this.executor, task_id, ...reporting });
  }

  async transferStep(step: Asked<'transfer_report'>): Promise<boolean> {
    return (await this.requestUntilAnswered({ op: 'transfer_report', ...step })).status === 200;
  }

  /** Returns the cell's journal position that includes everything observed so far. */
  async observed(seen: Asked<'observed'>): Promise<number> {
    return positionOf(await this.ask({ op: 'observed', ...seen }));
  }

  async balances(seen: Asked<'balances'>): Promise<void> {
    bodyOf(await this.ask({ op: 'balances', ...seen }));
  }

  async health(health: VenueHealth): Promise<void> {
    bodyOf(await this.ask({ op: 'venue_health', health }));
  }

  /** The cell's reply, unchanged, for the caller of the link. */
  link_account(account: Asked<'link_account'>): Promise<LinkReply> {
    return this.ask({ op: 'link_account', ...account });
  }

  private async requestUntilAnswered(request: ExecutorRequest): Promise<LinkReply> {
    for (let tries = 1; ; tries += 1) {
      try {
        const reply = await this.ask(request);
        if (reply.status < NO_ANSWER) return reply;
        if (tries === REPORT_TRIES) throw new CellUnavailable(`the cell answered with ${reply.status}`);
      } catch (error) {
        if (!(error instanceof CellUnavailable) || tries === REPORT_TRIES) throw error;
      }
      await pause(this.clock, AGAIN_MILLIS);
    }
  }

  private async ask(request: ExecutorRequest, patienceMillis?: number): Promise<LinkReply> {
    try {
      return await this.link.request(request, patienceMillis);
    } catch (error) {
      throw new CellUnavailable(error instanceof Error ? error.message : 'the link has failed', {
        cause: error,
      });
    }
  }
}

function bodyOf({ status, body }: LinkReply): unknown {
  if (status !== 200) throw new CellUnavailable(`the cell answered with ${status}`);
  return body === '' ? {} : fromWire(body);
}

function positionOf(reply: LinkReply): number {
  const body = bodyOf(reply);
  if (typeof body === 'object' && body !== null && 'position' in body && typeof body.position === 'number')
    return body.position;
  throw new CellUnavailable('the cell does not say how far it has heard');
}

/** Checks only the outline, because the cells are ours. */
function isClaimed(body: unknown): body is { readonly tasks: readonly ExecutorTask[] } {
  return (
    typeof body === 'object' &&
    body !== null &&
    'tasks' in body &&
    Array.isArray(body.tasks) &&
    body.tasks.every((task: unknown) => typeof task === 'object' && task !== null && 'task_id' in task)
  );
}
