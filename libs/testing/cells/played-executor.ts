import type {
  ExecutorTask,
  ObservedFill,
  ObservedOrder,
  TaskReport,
} from '#libs/execution/protocol/cell-protocol.js';
import type { OrderTerms, VenueCall } from '#libs/execution/rules/order.js';
import { eventually } from '../eventually.js';
import type { LiveCell } from './live-cell.js';

type TaskOf<Kind extends ExecutorTask['kind']> = Extract<ExecutorTask, { kind: Kind }>;

const CALL: VenueCall = {
  operation: 'submit',
  request_sha256: 'ab'.repeat(32),
  sent_at: '2026-11-28T12:00:00.000000000Z',
};

/** An executor whose steps the test calls one by one. */
export class PlayedExecutor {
  private readonly waiting: ExecutorTask[] = [];
  /** The last submit task of each order. */
  private readonly submissions = new Map<string, string>();

  constructor(
    private readonly live: LiveCell,
    readonly name = 'executor-1',
  ) {}

  /** Returns the next task of a kind. Tasks of other kinds stay for later. */
  async task<Kind extends ExecutorTask['kind']>(kind: Kind): Promise<TaskOf<Kind>> {
    return eventually(async () => {
      await this.claim();
      const at = this.waiting.findIndex((task) => task.kind === kind);
      const [task] = at < 0 ? [] : this.waiting.splice(at, 1);
      if (task?.kind !== kind) throw new Error(`there is no task to ${kind}`);
      return task as TaskOf<Kind>;
    });
  }

  async claim(): Promise<readonly ExecutorTask[]> {
    const { body } = await this.live.ask({ op: 'claim', executor: this.name, max: 50, wait_ms: 0 });
    for (const task of body.tasks) {
      // Reconciliation of accounts has tests of its own.
      if (task.kind === 'reconcile') await this.told(task.task_id);
      else this.waiting.push(task);
      if (task.kind === 'submit') this.submissions.set(task.terms.order_id, task.task_id);
    }
    return this.waiting;
  }

  async told(task_id: string): Promise<void> {
    await this.live.ask({ op: 'report', executor: this.name, task_id, report: { what: 'told' } });
  }

  begin(
    { order_id, quantity, price }: OrderTerms,
    attempt = 1,
    task_id = this.submissions.get(order_id) ?? '',
  ): Promise<number> {
    const venue_client_id = attempt === 1 ? order_id : `${order_id}-${attempt}`;
    const sent = { quantity, price };
    return this.live
      .ask({ op: 'begin_submission', executor: this.name, task_id, order_id, venue_client_id, sent })
      .then(({ status }) => status);
  }

  async report(
    task: TaskOf<'submit' | 'cancel' | 'amend' | 'query'>,
    report: TaskReport,
    call: Partial<VenueCall> = {},
  ): Promise<number> {
    const operation = task.kind === 'query' ? 'read' : task.kind;
    const { order_id } = task.terms;
    const { status } = await this.live.ask({
      ...{ op: 'report', executor: this.name, task_id: task.task_id, order_id, report },
      call: { ...CALL, operation, ...call },
    });
    return status;
  }

  /** Sends the next order, which then rests at the venue, filled by these amounts. */
  async places(filled: readonly bigint[] = []): Promise<OrderTerms> {
    const task = await this.task('submit');
    await this.begin(task.terms, task.attempt);
    const fills = filled.map((quantity, index) => fillOf(task.terms, quantity, index));
    await this.report(task, { what: 'placed', order: seenOf(task.terms, filled), fills });
    return task.terms;
  }
}

export function exchangeIdOf({ order_id }: OrderTerms): string {
  return `x-${order_id}`;
}

export function seenOf(
  terms: OrderTerms,
  filled: readonly bigint[] = [],
  different: Partial<ObservedOrder> = {},
): ObservedOrder {
  const sum = filled.reduce((all, one) => all + one, 0n);
  return {
    exchange_order_id: exchangeIdOf(terms),
    venue_client_id: terms.order_id,
    status: sum >= terms.quantity ? 'filled' : 'resting',
    ...{ price: terms.price, quantity: terms.quantity, filled: sum },
    ...different,
  };
}

export function fillOf(terms: OrderTerms, quantity: bigint, trade: number | string = 0): ObservedFill {
  const { market_id, outcome, side, price } = terms;
  return {
    exchange_order_id: exchangeIdOf(terms),
    ...{ market_id, outcome, side },
    fill: {
      fill_id: `fill-${terms.order_id}-${trade}`,
      ...{ price, quantity, fee: 10_000n, is_fee_told: true, liquidity: 'taker' },
      venue_trade_id: `trade-${trade}`,
      occurred_at: '2026-11-28T12:00:01.000000000Z',
    },
  };
}
