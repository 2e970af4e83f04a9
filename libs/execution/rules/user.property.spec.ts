import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { wantedTerms } from '#libs/testing/cells/orders.js';
import { decideCancel, decideDoubt } from './decide/cancel.js';
import { OrderDraft } from './decide/order-draft.js';
import { decideFills, decideReport } from './decide/report.js';
import type { SeenFill, SeenOrder, TaskOutcome } from './decide/seen.js';
import type { CellEvent, OrderEvent } from './events.js';
import { reservations } from './exposure.js';
import { averageBps, realizedPnl } from './holdings.js';
import { ONE, type Micros } from './micros.js';
import { isTerminal, type OrderFill, type OrderState } from './order.js';
import { orderRecord } from './record.js';
import { emptyUser, evolveUser, isOrderEvent, orderOf, type UserState } from './user.js';

const USER = 'ann';
const AT = '2026-11-28T12:00:00.000000000Z';

interface Action {
  readonly order: number;
  readonly what: 'begin' | 'placed' | 'fill' | 'again' | 'doubt' | 'cancel' | 'ended' | 'refused' | 'absent';
  readonly quantity: Micros;
  readonly price: Micros;
}

const anyAction: fc.Arbitrary<Action> = fc.record({
  order: fc.nat(4),
  what: fc.constantFrom<Action['what']>(
    ...(['begin', 'begin', 'placed', 'fill', 'fill', 'fill', 'again', 'doubt', 'cancel', 'ended'] as const),
    ...(['refused', 'absent'] as const),
  ),
  quantity: fc.bigInt({ min: 1n, max: 6n * ONE }),
  price: fc.bigInt({ min: 1n, max: ONE }),
});

/** A user whose orders get random events, and a plain list of all fills to compare with. */
class Story {
  user: UserState = emptyUser;
  readonly fills: { readonly side: 'buy' | 'sell'; readonly fill: OrderFill }[] = [];
  private trades = 0;

  constructor() {
    this.apply({ type: 'VENUE_LINKED', at: AT, user_id: USER, venue: 'venue_b', account: 'a' });
    for (let order = 0; order < 5; order += 1) {
      const order_id = String(order);
      // Even orders buy. A sell is filled only as far as shares are held.
      const side = order % 2 === 0 ? 'buy' : 'sell';
      const terms = { ...wantedTerms(USER, { side, quantity: 9n * ONE, max_retries: 2 }), order_id };
      this.apply({ type: 'ORDER_ACCEPTED', at: AT, user_id: USER, order_id, terms });
    }
  }

  order(order: number): OrderState {
    const found = orderOf(this.user, String(order));
    if (found === undefined) throw new Error(`order ${order} is no longer in memory`);
    return found;
  }

  apply(event: CellEvent): void {
    const before = isOrderEvent(event) ? orderOf(this.user, event.order_id) : undefined;
    this.user = evolveUser(this.user, event);
    if (!isOrderEvent(event)) return;
    const after = orderOf(this.user, event.order_id);
    expect(after?.seq).toBe((before?.seq ?? 0) + 1);
    if (before === undefined || after === undefined) return;
    if (after.version === before.version) expect(shownOf(after)).toEqual(shownOf(before));
    else expect(after.version).toBe(before.version + 1);
    if (event.type === 'ORDER_FILLED') this.fills.push({ side: after.terms.side, fill: event.fill });
  }

  applyAll(events: readonly OrderEvent[]): void {
    for (const event of events) this.apply(event);
  }

  do({ order: index, what, quantity, price }: Action): void {
    const order = this.order(index);
    switch (what) {
      case 'begin': {
        if (order.status !== 'queued') return;
        const draft = new OrderDraft(order, AT);
        const sent = { quantity: order.terms.quantity, price: order.price };
        draft.add({ type: 'SUBMISSION_STARTED', attempt: order.attempts + 1, venue_client_id: 'c', sent });
        this.applyAll(draft.events);
        return;
      }
      case 'cancel':
        this.applyAll(decideCancel(order, { cause: 'USER', at: AT }));
        return;
      case 'doubt':
        this.applyAll(decideDoubt(order, 'lost', AT));
        return;
      case 'fill':
      case 'again': {
        if (order.status === 'queued') return;
        const fill = what === 'fill' ? this.newFill(order, quantity, price) : this.oldFill(order);
        if (fill !== undefined) this.applyAll(decideFills(order, [fill, fill], AT));
        return;
      }
      default:
        this.report(order, what);
    }
  }

  report(order: OrderState, what: 'placed' | 'ended' | 'refused' | 'absent'): void {
    if (order.status === 'queued') return;
    const outcome: TaskOutcome =
      what === 'absent'
        ? { what }
        : what === 'refused'
          ? { what, failure: { code: 'EXCHANGE_UNAVAILABLE' } }
          : { what: 'placed', order: seen(order, what === 'placed' ? 'resting' : 'cancelled'), fills: [] };
    const kind = what === 'refused' ? 'submit' : 'query';
    this.applyAll(decideReport(order, { kind, outcome, at: AT }).events);
  }

  private newFill(order: OrderState, wanted: Micros, price: Micros): SeenFill | undefined {
    const left = order.terms.quantity - order.filled;
    const quantity = wanted < left ? wanted : left;
    if (quantity <= 0n || (order.terms.side === 'sell' && quantity > this.held)) return undefined;
    this.trades += 1;
    const fill_id = `${order.terms.order_id}/${this.trades}`;
    const details = { fee: 7n, is_fee_told: true, liquidity: 'maker', venue_trade_id: fill_id } as const;
    return { exchange_order_id: 'x', fill: { fill_id, price, quantity, ...details, occurred_at: AT } };
  }

  private oldFill(order: OrderState): SeenFill | undefined {
    const known = this.fills.find(({ fill }) => order.fill_ids.includes(fill.fill_id));
    return known === undefined ? undefined : { exchange_order_id: 'x', fill: known.fill };
  }

  private get held(): Micros {
    return this.fills.reduce(
      (sum, { side, fill }) => sum + (side === 'buy' ? fill.quantity : -fill.quantity),
      0n,
    );
  }
}

function seen(order: OrderState, status: SeenOrder['status']): SeenOrder {
  return { exchange_order_id: 'x', status, price: order.price, filled: order.filled };
}

/** What callers see of an order, without the venue's last reply. */
function shownOf(order: OrderState): Record<string, unknown> {
  return { ...orderRecord(order, 'full'), raw: null };
}

/** Computes cost and gain exactly, as fractions. Slow, but simple. */
function oracle(fills: Story['fills']): { quantity: Micros; average: bigint; pnl: bigint } {
  let quantity = 0n;
  let [cost, gain] = [fraction(0n), fraction(0n)];
  let fees = 0n;
  for (const { side, fill } of fills) {
    fees += fill.fee;
    const value = fraction(fill.price * fill.quantity);
    if (side === 'buy') {
      quantity += fill.quantity;
      cost = plus(cost, value);
      continue;
    }
    const part = { over: cost.over * fill.quantity, under: cost.under * quantity };
    gain = plus(plus(gain, value), { over: -part.over, under: part.under });
    cost = plus(cost, { over: -part.over, under: part.under });
    quantity -= fill.quantity;
  }
  // Cost is in units of 10^-12, and a basis point is a hundred millionths. Half is rounded up.
  const unit = quantity * cost.under * 100n;
  const average = quantity === 0n ? 0n : (2n * cost.over + unit) / (2n * unit);
  return { quantity, average, pnl: floor(gain.over, gain.under * ONE) - fees };
}

interface Fraction {
  readonly over: bigint;
  readonly under: bigint;
}

function fraction(over: bigint): Fraction {
  return { over, under: 1n };
}

function plus(a: Fraction, b: Fraction): Fraction {
  const [over, under] = [a.over * b.under + b.over * a.under, a.under * b.under];
  const common = divisor(over < 0n ? -over : over, under);
  return { over: over / common, under: under / common };
}

function divisor(a: bigint, b: bigint): bigint {
  return b === 0n ? (a === 0n ? 1n : a) : divisor(b, a % b);
}

function floor(over: bigint, under: bigint): bigint {
  const cut = over / under;
  return over < 0n && cut * under !== over ? cut - 1n : cut;
}

describe('a user whose orders get random events', () => {
  it('holds exactly what the fills add up to, each counted once', () => {
    fc.assert(
      fc.property(fc.array(anyAction, { maxLength: 60 }), (actions) => {
        const story = new Story();
        for (const action of actions) story.do(action);
        const ids = story.fills.map(({ fill }) => fill.fill_id);
        expect(new Set(ids).size).toBe(ids.length);
        for (let index = 0; index < 5; index += 1) {
          const order = story.order(index);
          const own = story.fills.filter(({ fill }) => order.fill_ids.includes(fill.fill_id));
          expect(order.filled).toBe(own.reduce((sum, { fill }) => sum + fill.quantity, 0n));
          expect(order.filled_value).toBe(
            own.reduce((sum, { fill }) => sum + fill.price * fill.quantity, 0n),
          );
          expect(order.status === 'filled').toBe(order.filled >= order.terms.quantity);
        }
        const [position] = story.user.holdings.positions.values();
        const { quantity, average, pnl } = oracle(story.fills);
        expect(position?.quantity ?? 0n).toBe(quantity);
        if (position === undefined) return;
        expect(BigInt(averageBps(position))).toBe(average);
        expect(realizedPnl(position)).toBe(pnl);
        expect(position.closed_at === undefined).toBe(quantity !== 0n);
      }),
      { numRuns: 300 },
    );
  });

  it('has nothing reserved once all orders have ended', () => {
    fc.assert(
      fc.property(fc.array(anyAction, { maxLength: 40 }), (actions) => {
        const story = new Story();
        for (const action of actions) story.do(action);
        for (let index = 0; index < 5; index += 1) {
          story.do({ order: index, what: 'cancel', quantity: ONE, price: ONE });
          story.report(story.order(index), 'ended');
          expect(isTerminal(story.order(index))).toBe(true);
        }
        expect([...reservations(story.user, AT).values()]).toEqual([]);
        expect(story.user.live.size).toBe(0);
      }),
      { numRuns: 200 },
    );
  });

  it('never has an order fail with EXCHANGE_NOT_PLACED if the venue had it', () => {
    fc.assert(
      fc.property(fc.array(anyAction, { maxLength: 60 }), (actions) => {
        const story = new Story();
        for (const action of actions) {
          story.do(action);
          for (let index = 0; index < 5; index += 1) {
            const { failure, exchange_order_id: id } = story.order(index);
            if (failure?.code === 'EXCHANGE_NOT_PLACED') expect(id).toBeUndefined();
          }
        }
      }),
      { numRuns: 200 },
    );
  });
});
