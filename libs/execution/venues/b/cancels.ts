import { z } from 'zod';
import type { Clock } from '#libs/platform/time/clock.js';
import { classificationOf } from '../../rules/failures.js';
import type { VenueCall } from '../../rules/order.js';
import { doubt, goodAnswer, reasonOf, type RequestOutcome } from '../answers.js';
import type { CancelOutcome, OrderName, VenueExchange } from '../port.js';
import { refusalOf } from './orders.js';
import type { SignedBRequest, VenueBRequests } from './requests.js';
import { cancelledOrder, cancelledOrders, type CancelledRow } from './shapes.js';

/** An order together with the id that the venue gave it. */
export type NamedOrder = OrderName & { readonly exchange_order_id: string };

/** What the venue answered for one order. `left` is the quantity that was unfilled when it was cancelled. */
export type CancelAnswer =
  | { readonly what: 'taken-back'; readonly left: bigint }
  | Exclude<CancelOutcome, { readonly what: 'cancelled' }>;

interface WaitingCancel {
  readonly order: NamedOrder;
  readonly since: bigint;
  readonly resolve: (exchange: VenueExchange<CancelAnswer>) => void;
  readonly reject: (error: unknown) => void;
}

export interface CancelParts {
  readonly requests: Pick<VenueBRequests, 'signed'>;
  readonly clock: Clock;
  readonly user_id: string;
  /** The path of orders at the venue. */
  readonly path: string;
}

const MOST_TOGETHER = 20;
/** More than one, so that a request without an answer does not hold up the others. */
const MOST_UNDER_WAY = 4;
const UNKNOWN_STATUS = 404;

/**
 * Cancels of one account. Those requested at the same moment go to the venue in one request, and each order gets its
 * own answer. If the request is lost, each of its orders is in doubt.
 */
export class VenueBCancels {
  private waiting: WaitingCancel[] = [];
  private underWay = 0;
  private isDue = false;

  constructor(private readonly parts: CancelParts) {}

  ask(order: NamedOrder): Promise<VenueExchange<CancelAnswer>> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ order, since: this.parts.clock.monotonicNanos(), resolve, reject });
      this.sendSoon();
    });
  }

  private sendSoon(): void {
    if (this.isDue || this.waiting.length === 0 || this.underWay >= MOST_UNDER_WAY) return;
    this.isDue = true;
    setImmediate(() => {
      this.isDue = false;
      while (this.waiting.length > 0 && this.underWay < MOST_UNDER_WAY)
        void this.send(this.waiting.splice(0, MOST_TOGETHER));
    });
  }

  private async send(group: readonly WaitingCancel[]): Promise<void> {
    this.underWay += 1;
    try {
      if (group.length > 1) await this.together(group);
      else await this.each(group);
    } catch (error) {
      for (const { reject } of group) reject(error);
    } finally {
      this.underWay -= 1;
      this.sendSoon();
    }
  }

  private async each(group: readonly WaitingCancel[]): Promise<void> {
    for (const { order, since, resolve } of group) {
      const { outcome, call } = await this.parts.requests.signed({
        ...this.request(since),
        ...{ order_id: order.terms.order_id },
        path: `${this.parts.path}/${encodeURIComponent(order.exchange_order_id)}`,
      });
      resolve({ outcome: answerOf(outcome), call });
    }
  }

  private async together(group: readonly WaitingCancel[]): Promise<void> {
    const since = group.reduce(
      (oldest, one) => (one.since < oldest ? one.since : oldest),
      group[0]?.since ?? 0n,
    );
    const { outcome, call } = await this.parts.requests.signed({
      ...this.request(since),
      path: `${this.parts.path}/batched`,
      body: {
        orders: group.map(({ order }) => ({
          order_id: order.exchange_order_id,
          market_ticker: order.terms.market_id,
        })),
      },
    });
    const whole = batchOutcome(outcome);
    // The batch itself was refused, so nothing was cancelled. The venue may accept fewer at once.
    if (whole === 'none') return this.each(group);
    const refused: WaitingCancel[] = [];
    for (const one of group) {
      const row = Array.isArray(whole) ? rowOf(whole, one.order) : undefined;
      if (row?.error) refused.push(one);
      else
        one.resolve({
          outcome: row === undefined ? outcomeWithoutRow(whole) : takenBack(row),
          call: callOfRow(call, row),
        });
    }
    // The venue gives the reason only when asked for one order alone.
    await this.each(refused);
  }

  private request(since: bigint): Pick<SignedBRequest, 'user_id' | 'operation' | 'method' | 'since'> {
    return { user_id: this.parts.user_id, operation: 'cancel', method: 'DELETE', since };
  }
}

function takenBack({ reduced_by: left }: { readonly reduced_by: bigint }): CancelAnswer {
  return { what: 'taken-back', left };
}

function answerOf(outcome: RequestOutcome): CancelAnswer {
  if (outcome.what !== 'answered') return reasonOf(outcome);
  const refused = refusalOf(outcome.status, outcome.body);
  if (refused !== undefined) {
    if (outcome.status === UNKNOWN_STATUS) return { what: 'gone' };
    const { code, message = refused.code } = refused.failure;
    // Too busy or halted: the venue decided nothing about the order, and the cancel is still wanted.
    return { what: classificationOf(code) === 'retryable' ? 'not-sent' : 'refused', reason: message };
  }
  const done = goodAnswer(outcome, cancelledOrder);
  return done === undefined ? { what: 'doubtful', reason: doubt(outcome) } : takenBack(done);
}

/** The rows of a good answer; `none` if the batch itself was refused; else the one outcome of all orders. */
function batchOutcome(outcome: RequestOutcome): readonly CancelledRow[] | 'none' | CancelAnswer {
  if (outcome.what !== 'answered') return reasonOf(outcome);
  const done = goodAnswer(outcome, cancelledOrders);
  if (done !== undefined) return done.orders;
  const answer = answerOf(outcome);
  return answer.what === 'gone' || answer.what === 'refused' ? 'none' : answer;
}

function rowOf(
  rows: readonly CancelledRow[],
  { exchange_order_id: id }: NamedOrder,
): CancelledRow | undefined {
  return rows.find(({ order_id }) => order_id === id);
}

function outcomeWithoutRow(whole: readonly CancelledRow[] | CancelAnswer): CancelAnswer {
  return 'what' in whole ? whole : { what: 'doubtful', reason: 'the venue does not say what became of it' };
}

const manyAnswers = z.object({ orders: z.array(z.looseObject({ order_id: z.string() })) });

/** Narrows the raw answer to a batch down to the row of one order. */
function callOfRow(call: VenueCall, row: CancelledRow | undefined): VenueCall {
  const read = manyAnswers.safeParse(call.raw);
  const raw = read.data?.orders.find(({ order_id: id }) => id === row?.order_id);
  return raw === undefined ? call : { ...call, raw };
}
