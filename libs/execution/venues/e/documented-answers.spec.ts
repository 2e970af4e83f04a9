import { expect, it } from '@jest/globals';
import { failureOf, isExpired, isGone, isKnownAlready, isUnmatched, observedOrder } from './orders.js';
import { exchangeReply, fills, ledgerUpdates, orderStatus } from './shapes.js';

// Answers in the documented form of the venue, with invented numbers.

const ORDER = {
  ...{ coin: '#51', side: 'A', limitPx: '0.5412', sz: '3.0', oid: 77738308, timestamp: 1789000000000 },
  ...{ triggerCondition: 'N/A', isTrigger: false, triggerPx: '0.0', children: [], isPositionTpsl: false },
  ...{ reduceOnly: false, orderType: 'Limit', origSz: '10.0', tif: 'Gtc', cloid: null },
};

it.each([
  [{ resting: { oid: 77738308 } }],
  [{ resting: { oid: 77738308, cloid: `0x${'1b'.repeat(16)}` } }],
  [{ filled: { totalSz: '2', avgPx: '0.5', oid: 77747314 } }],
  [{ error: 'Order has insufficient spot balance to trade' }],
  ['success'],
])('the status %j of an order is read', (status) => {
  const reply = { status: 'ok', response: { type: 'order', data: { statuses: [status] } } };
  expect(exchangeReply.parse(reply)).toMatchObject({ response: { data: { statuses: [{}] } } });
});

it('an answer without data and a refusal of the action are read', () => {
  expect(exchangeReply.parse({ status: 'ok', response: { type: 'default' } }).status).toBe('ok');
  const refused = { status: 'err', response: 'User or API Wallet 0x01 does not exist.' };
  expect(exchangeReply.parse(refused)).toEqual(refused);
});

it.each([
  ['ok without a response', { status: 'ok' }],
  ['no statuses', { status: 'ok', response: { type: 'order', data: { statuses: [] } } }],
  ['an unknown status', { status: 'ok', response: { type: 'order', data: { statuses: [{}] } } }],
])('does not read %s as an answer', (_, reply) => {
  expect(exchangeReply.safeParse(reply).success).toBe(false);
});

it.each([
  ['open', 'resting', undefined],
  ['canceled', 'cancelled', 'user'],
  ['selfTradeCanceled', 'cancelled', 'self-trade'],
  ['outcomeSettledCanceled', 'cancelled', 'market-closed'],
  ['delistedCanceled', 'cancelled', 'market-closed'],
  ['iocCancelRejected', 'cancelled', undefined],
  ['tickRejected', 'rejected', undefined],
])('reads an order that is %s as %s', (status, ours, ended_by) => {
  const answer = { status: 'order', order: { order: ORDER, status, statusTimestamp: 1789000000001 } };
  const read = orderStatus.parse(answer);
  if (read.status !== 'order') throw new Error('not read');
  const observed = observedOrder(read.order.order, read.order.status);
  expect(observed).toMatchObject({ status: ours, filled: 7_000_000n, exchange_order_id: '77738308' });
  expect(observed.ended_by).toBe(ended_by);
});

it('fills are read, including rebates and liquidations', () => {
  const fill = {
    ...{ coin: '#51', px: '0.18435', sz: '93', side: 'B', time: 1789000000000, startPosition: '26.86' },
    ...{ dir: 'Open Long', closedPnl: '0.0', hash: `0x${'ab'.repeat(32)}`, oid: 90542681, crossed: false },
    ...{ fee: '-0.000123456', tid: 118906512037719, feeToken: 'USDC', twapId: null },
  };
  expect(fills.parse([fill])).toMatchObject([{ px: 184_350n, sz: 93_000_000n, fee: -123n }]);
});

it('ledger updates that do not concern outcomes are read as other', () => {
  const update = { time: 1789000000000, hash: `0x${'ab'.repeat(32)}` };
  const read = ledgerUpdates.parse([
    { ...update, delta: { type: 'accountClassTransfer', usdc: '1.0', toPerp: true } },
    { ...update, delta: { type: 'deposit', usdc: '100.5' } },
  ]);
  expect(read.map(({ delta }) => delta.type)).toEqual(['other', 'deposit']);
});

it('error messages of the venue are mapped to our codes', () => {
  const code = (message: string): string => failureOf(message, 'buy').code;
  expect(code('Order has insufficient spot balance to trade')).toBe('INSUFFICIENT_BALANCE');
  expect(failureOf('Order has insufficient spot balance to trade', 'sell').code).toBe(
    'INSUFFICIENT_POSITION',
  );
  expect(code('Post only order would have immediately matched, bbo was 0.5@0.6.')).toBe(
    'POST_ONLY_WOULD_CROSS',
  );
  expect(code('Order must have minimum value of 10 USDC.')).toBe('ORDER_TOO_SMALL');
  expect(code('Price must be divisible by tick size.')).toBe('VENUE_REJECTED');
  expect(isUnmatched('Order could not immediately match against any resting orders.')).toBe(true);
  expect(isUnmatched('No liquidity available for market order.')).toBe(true);
  expect(isGone('Order was never placed, already canceled, or filled.')).toBe(true);
  expect(isKnownAlready('Invalid nonce: 1789000000000')).toBe(true);
  expect(isExpired('Action expired: 1789000000000')).toBe(true);
});
