import { describe, expect, it } from '@jest/globals';
import { wantedTerms } from '#libs/testing/cells/orders.js';
import { decideReport } from './decide/report.js';
import type { SeenOrder, TaskOutcome, Unfilled } from './decide/seen.js';
import type { CellEvent, OrderEvent } from './events.js';
import { evolveOrder } from './evolve.js';
import { failureRecord, legacyCodeOf, statusOf } from './failures.js';
import { averageBps, realizedPnl } from './holdings.js';
import { lets, modeFor, type Switch, type Switched } from './modes.js';
import { ONE } from './micros.js';
import type { OrderState } from './order.js';
import { orderRecord } from './record.js';
import { emptyUser, evolveUser } from './user.js';

const AT = '2026-11-28T12:00:00.123456789Z';
const OF = { at: AT, user_id: 'ann', order_id: 'o' } as const;

function orderAfter(
  different: Partial<ReturnType<typeof wantedTerms>> = {},
  ...events: OrderEvent[]
): OrderState {
  const terms = { ...wantedTerms('ann', { client_order_id: 'key', ...different }), order_id: 'o' };
  return events.reduce(evolveOrder, evolveOrder(undefined, { ...OF, type: 'ORDER_ACCEPTED', terms }));
}

const BEGUN: OrderEvent = {
  ...{ ...OF, type: 'SUBMISSION_STARTED', attempt: 1, venue_client_id: 'o' },
  sent: { quantity: 10n * ONE, price: 400_000n },
};
const PLACED: OrderEvent = { ...OF, type: 'ORDER_PLACED', exchange_order_id: 'x' };

function filledWith(quantity: bigint, name = '1'): OrderEvent {
  const details = { fee: 0n, is_fee_told: true, liquidity: 'taker', venue_trade_id: name } as const;
  const fill = { fill_id: name, price: 400_000n, quantity, ...details, occurred_at: AT };
  return { ...OF, type: 'ORDER_FILLED', exchange_order_id: 'x', fill };
}

function endAfter(order: OrderState, outcome: TaskOutcome): Record<string, unknown> {
  const { events } = decideReport(order, { kind: 'submit', outcome, at: AT });
  const { status, terminal_reason, failure } = events.reduce(evolveOrder, order);
  return { status, terminal_reason, ...(failure === undefined ? {} : { code: failure.code }) };
}

function endedAtVenue(different: Partial<SeenOrder> = {}, unfilled?: Unfilled): TaskOutcome {
  const order = {
    exchange_order_id: 'x',
    status: 'cancelled',
    price: 400_000n,
    filled: 0n,
    ...different,
  } as const;
  return { what: 'placed', order, fills: [], ...(unfilled === undefined ? {} : { unfilled }) };
}

const part = [BEGUN, PLACED, filledWith(ONE)];

describe('the end of an order', () => {
  it.each([
    [
      'an IOC order that found nothing',
      orderAfter({ time_in_force: 'IOC' }, BEGUN),
      endedAtVenue(),
      'UNFILLED_REMAINDER',
    ],
    [
      'the remainder of a FAK order',
      orderAfter({ time_in_force: 'FAK' }, ...part),
      endedAtVenue({ filled: ONE }),
      'UNFILLED_REMAINDER',
    ],
    [
      'the remainder of a market order',
      orderAfter({ kind: 'market' }, ...part),
      endedAtVenue({ filled: ONE }),
      'UNFILLED_REMAINDER',
    ],
    [
      'the remainder of a FOK order, at a venue without FOK',
      orderAfter({ time_in_force: 'FOK' }, ...part),
      endedAtVenue({ filled: ONE }),
      'UNFILLED_REMAINDER',
    ],
    [
      'the remainder that would trade with own orders',
      orderAfter({}, ...part),
      endedAtVenue({ filled: ONE }, 'own-order'),
      'UNFILLED_REMAINDER',
    ],
    [
      'a market that closes',
      orderAfter({}, BEGUN, PLACED),
      endedAtVenue({ ended_by: 'market-closed' }),
      'MARKET_CLOSED',
    ],
    ['a venue that cancels', orderAfter({}, BEGUN, PLACED), endedAtVenue(), 'VENUE'],
    [
      'a cancel',
      orderAfter({}, BEGUN, PLACED, { ...OF, type: 'CANCEL_REQUESTED', cause: 'DISCONNECT' }),
      endedAtVenue(),
      'DISCONNECT',
    ],
  ])('caused by %s has the status cancelled', (_cause, order, outcome, terminal_reason) => {
    expect(endAfter(order, outcome)).toEqual({ status: 'cancelled', terminal_reason });
  });

  it.each([
    ['FOK_NOT_FILLED', orderAfter({ time_in_force: 'FOK' }, BEGUN), endedAtVenue()],
    ['NO_LIQUIDITY', orderAfter({ kind: 'market' }, BEGUN), endedAtVenue({}, 'empty')],
    ['SLIPPAGE_EXCEEDED', orderAfter({ kind: 'market' }, BEGUN), endedAtVenue({}, 'beyond-bound')],
    ['SELF_TRADE_PREVENTED', orderAfter({}, BEGUN), endedAtVenue({}, 'own-order')],
    ['SELF_TRADE_PREVENTED', orderAfter({}, BEGUN, PLACED), endedAtVenue({ ended_by: 'self-trade' })],
    ['VENUE_REJECTED', orderAfter({}, BEGUN), endedAtVenue({ status: 'rejected' })],
    [
      'INSUFFICIENT_BALANCE',
      orderAfter({}, BEGUN),
      { what: 'refused', failure: { code: 'INSUFFICIENT_BALANCE' } } as const,
    ],
    ['EXCHANGE_NOT_PLACED', orderAfter({}, BEGUN), { what: 'absent' } as const],
  ])('caused by a failure has the code %s', (code, order, outcome) => {
    expect(endAfter(order, outcome)).toEqual({ status: 'failed', terminal_reason: 'FAILED', code });
  });

  it('caused by expiry has the status expired, even while a cancel waits', () => {
    const order = orderAfter({}, BEGUN, PLACED, { ...OF, type: 'CANCEL_REQUESTED', cause: 'USER' });
    expect(endAfter(order, endedAtVenue({ status: 'expired' }))).toEqual({
      status: 'expired',
      terminal_reason: 'EXPIRED',
    });
  });

  it('waits for fills that the venue counts but has not shown yet', () => {
    expect(endAfter(orderAfter({}, BEGUN), endedAtVenue({ filled: 2n * ONE }))).toMatchObject({
      status: 'open',
    });
    expect(
      endAfter(orderAfter({}, BEGUN), endedAtVenue({ status: 'filled', filled: 10n * ONE })),
    ).toMatchObject({
      status: 'open',
    });
  });

  it('by a failure is reversed when a fill arrives', () => {
    const failed: OrderEvent = {
      ...{ ...OF, type: 'ORDER_ENDED', status: 'failed', terminal_reason: 'FAILED' },
      failure: { code: 'EXCHANGE_NOT_PLACED' },
    };
    const order = orderAfter({}, BEGUN, failed, filledWith(ONE));
    expect(order).toMatchObject({ status: 'partially_filled', failure: undefined, terminal_at: undefined });
    expect(orderAfter({ kind: 'market' }, BEGUN, failed, filledWith(ONE)).status).toBe('cancelled');
  });
});

it('a report that arrives again after a restart of the cell adds nothing, its call neither', () => {
  const call = { operation: 'submit', request_sha256: 'ab', sent_at: AT } as const;
  const order = orderAfter({ time_in_force: 'IOC' }, BEGUN);
  const report = { kind: 'submit', outcome: endedAtVenue(), at: AT, call } as const;
  const { events } = decideReport(order, report);
  expect(events.map(({ type, call: kept }) => [type, kept])).toEqual([
    ['ORDER_PLACED', call],
    ['ORDER_ENDED', undefined],
  ]);
  const ended = events.reduce(evolveOrder, order);
  expect(decideReport(ended, report)).toEqual({ events: [], isOpenQuestion: false });
  const later = { ...call, sent_at: '2026-11-28T12:00:01.000000000Z' };
  expect(decideReport(ended, { ...report, call: later }).events).toMatchObject([
    { type: 'CALL_RECORDED', call: later },
  ]);
});

describe('a refused cancel', () => {
  it('returns the order to the status that it has reached meanwhile', () => {
    const requested: OrderEvent = { ...OF, type: 'CANCEL_REQUESTED', cause: 'USER' };
    const order = orderAfter({}, BEGUN, PLACED, requested, filledWith(ONE));
    expect(order.status).toBe('cancel_requested');
    const after = evolveOrder(order, { ...OF, type: 'CANCEL_REFUSED', message: 'no' });
    expect(after).toMatchObject({
      status: 'partially_filled',
      cancel: undefined,
      cancel_requested_at: undefined,
    });
  });
});

describe('the record of', () => {
  it('an order has the fields of the contract, amounts as strings and times with milliseconds', () => {
    expect(orderRecord(orderAfter({}, ...part), 'row')).toEqual({
      ...{ order_id: 'o', origin: 'sotto', client_order_id: 'key', exchange_id: 'venue_b' },
      ...{ exchange_order_id: 'x', market_id: 'RAIN', outcome: 'Yes', side: 'buy', kind: 'limit' },
      ...{ time_in_force: 'GTC', post_only: false, price: '0.4', quantity: '10' },
      ...{ requested: { quantity: '10', price: '0.4' }, sent: { quantity: '10', price: '0.4' } },
      ...{
        status: 'partially_filled',
        filled_quantity: '1',
        remaining_quantity: '9',
        average_fill_price: '0.4',
      },
      ...{ fees: { amount: '0', currency: 'USD', source: 'venue' }, max_retries: 0, attempts: 1 },
      ...{ collateral: 'skip', funding: null, source: 'api', stalled: false, version: 4 },
      ...{ submittedAt: '2026-11-28T12:00:00.123Z', updated_at: '2026-11-28T12:00:00.123Z' },
      ...{ settlement_status: 'not_applicable', raw: null, metadata: null },
    });
    expect(orderRecord(orderAfter(), 'full')).toMatchObject({ raw: null, metadata: { channel: 'REST' } });
  });

  it('a failure lists the actions that may help', () => {
    expect(failureRecord({ code: 'FOK_NOT_FILLED' })).toEqual({
      ...{ code: 'FOK_NOT_FILLED', classification: 'expected_user_rejection' },
      details: { code: 'MARKET_FOK_NOT_FILLED', actions: ['retry', 'adjust_quantity'] },
    });
    expect(failureRecord({ code: 'SIGNER_REFUSED', message: 'no' })).toMatchObject({
      classification: 'non_retryable',
      details: { code: 'SIGNER_REFUSED', actions: ['retry', 'contact_support'], message: 'no' },
    });
  });

  it.each([
    ['VALIDATION_INVALID_ORDER', 400, 'InvalidOrder'],
    ['ORDER_NOT_FOUND', 404, 'OrderNotFound'],
    ['EXCHANGE_TRADING_HALTED', 503, 'TradingHalted'],
    ['AUTH_INSUFFICIENT_SCOPE', 403, 'InsufficientScope'],
    ['RATE_LIMITED_ORDERS', 429, 'RateLimitedOrders'],
    ['COMMAND_EXPIRED', 409, 'CommandExpired'],
  ])('the code %s has status %d and the older code %s', (code, status, legacy) => {
    expect([statusOf(code), legacyCodeOf(code)]).toEqual([status, legacy]);
  });
});

describe('holdings', () => {
  it('keep an exact average cost when parts are sold', () => {
    const sell = { ...wantedTerms('ann', { side: 'sell' }), order_id: 's' };
    const buy = { ...wantedTerms('ann'), order_id: 'o' };
    const fill = (order_id: string, name: string, quantity: bigint, price: bigint): CellEvent => {
      const details = { fee: 0n, is_fee_told: true, liquidity: 'taker', venue_trade_id: name } as const;
      const one = { fill_id: name, price, quantity, ...details, occurred_at: AT };
      return { ...OF, order_id, type: 'ORDER_FILLED', exchange_order_id: order_id, fill: one };
    };
    const user = [
      { ...OF, type: 'ORDER_ACCEPTED', terms: buy } as const,
      { ...OF, order_id: 's', type: 'ORDER_ACCEPTED', terms: sell } as const,
      fill('o', '1', 1n * ONE, 500_000n),
      fill('o', '2', 2n * ONE, 250_000n),
      fill('s', '3', 1n * ONE, 333_333n),
      fill('s', '4', 1n * ONE, 333_334n),
    ].reduce(evolveUser, emptyUser);
    const [position] = user.holdings.positions.values();
    expect(position).toBeDefined();
    if (position === undefined) return;
    expect(averageBps(position)).toBe(3333);
    // Two thirds are sold for 0.666667. The gain is a third of a millionth, rounded down to zero.
    expect(realizedPnl(position)).toBe(0n);
    const closed = evolveUser(user, fill('s', '5', 1n * ONE, 333_333n));
    const [last] = closed.holdings.positions.values();
    expect([last?.quantity, last?.cost, last && realizedPnl(last)]).toEqual([0n, 0n, 0n]);
  });
});

describe('switches', () => {
  const since = AT;
  const order: Switched = {
    ...({ venue: 'venue_b', side: 'buy', kind: 'limit', time_in_force: 'GTC' } as const),
    user_id: 'ann',
  };

  it('apply the strictest match and show its scope', () => {
    const switches: Switch[] = [
      { mode: 'reduce_only', since },
      { venue: 'venue_e', mode: 'halted', since },
      { venue: 'venue_b', side: 'buy', mode: 'cancel_only', since },
      { user_id: 'bob', mode: 'halted', since },
    ];
    expect(modeFor(switches, order)).toMatchObject({ mode: 'cancel_only', scope: 'order' });
    expect(modeFor(switches, { ...order, side: 'sell' })).toMatchObject({
      mode: 'reduce_only',
      scope: 'global',
    });
    expect(modeFor(switches, { ...order, user_id: 'bob' })).toMatchObject({ mode: 'halted', scope: 'user' });
    expect(modeFor([], order)).toMatchObject({ mode: 'on', scope: 'global' });
  });

  it.each([
    ['on', true, true],
    ['reduce_only', false, true],
    ['cancel_only', false, false],
    ['halted', false, false],
  ] as const)('in mode %s allow buys: %s, and sells: %s', (mode, buys, sells) => {
    expect([lets(mode, 'buy'), lets(mode, 'sell')]).toEqual([buys, sells]);
  });
});
