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
/** The link gives up later than the cell answers. */
const PATIENCE_MILLIS = WAIT_MILLIS + 4_000;
const AGAIN_MILLIS = 250;
/** Long for one record in a journal, and short beside the time in which a task has to be sent. */
const BEGIN_MILLIS = 1_500;
/** Past this the lease of the task has ended, and the cell asks the venue about it. */
const REPORT_TRIES = 60;
const NO_ANSWER = 500;

/** A cell does not answer, or not with what was asked for. What it was told may have been heard. */
export class CellUnavailable extends Error {
  override readonly name = 'CellUnavailable';
}

/** One cell as its executor speaks to it. */
export class CellClient {
  constructor(
    private readonly link: Pick<CellLink, 'request'>,
    private readonly executor: string,
    private readonly clock: Clock,
  ) {}

  /**
   * Waits for something to do. For nothing at all it only shows that this executor is there, without which its tasks are taken away, and
   * ends the claim before it.
   */
  async claim(max: number): Promise<readonly ExecutorTask[]> {
    const wait_ms = max === 0 ? 0 : WAIT_MILLIS;
    const reply = await this.ask({ op: 'claim', executor: this.executor, max, wait_ms }, PATIENCE_MILLIS);
    const body = bodyOf(reply);
    if (!isClaimed(body)) throw new CellUnavailable('the cell gives out something else than tasks');
    return body.tasks;
  }

  /**
   * True once it is durable; false where it must not be sent any more. An answer that was lost is asked for again, the cell knows its
   * own; undefined: there was none in time, and the order must not be sent now.
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

  /** VenueExchange again until the cell has heard it; a cell that does not know the task any more needs no report. */
  async report(task_id: string, reporting: Reporting): Promise<void> {
    await this.insist({ op: 'report', executor: this.executor, task_id, ...reporting });
  }

  async transferStep(step: Asked<'transfer_report'>): Promise<boolean> {
    return (await this.insist({ op: 'transfer_report', ...step })).status === 200;
  }

  /** The cell's position with everything in it that was seen so far. */
  async observed(seen: Asked<'observed'>): Promise<number> {
    return positionOf(await this.ask({ op: 'observed', ...seen }));
  }

  async balances(seen: Asked<'balances'>): Promise<void> {
    bodyOf(await this.ask({ op: 'balances', ...seen }));
  }

  async health(health: VenueHealth): Promise<void> {
    bodyOf(await this.ask({ op: 'venue_health', health }));
  }

  async mayLink(account: Asked<'may_link'>): Promise<boolean> {
    const { status } = await this.ask({ op: 'may_link', ...account });
    if (status >= NO_ANSWER) throw new CellUnavailable(`the cell answered with ${status}`);
    return status === 200;
  }

  /** The reply as it came, for whoever asked for the link. */
  link_account(account: Asked<'link_account'>): Promise<LinkReply> {
    return this.ask({ op: 'link_account', ...account });
  }

  private async insist(request: ExecutorRequest): Promise<LinkReply> {
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

/** What a cell of ours gives out is believed, but for its outline. */
function isClaimed(body: unknown): body is { readonly tasks: readonly ExecutorTask[] } {
  return (
    typeof body === 'object' &&
    body !== null &&
    'tasks' in body &&
    Array.isArray(body.tasks) &&
    body.tasks.every((task: unknown) => typeof task === 'object' && task !== null && 'task_id' in task)
  );
}
