import { createHash } from 'node:crypto';
import { ONE_DOLLAR } from '../../matching/order-book.js';
import type { Movement, VenueFill, VenueOrder, VenueTrade } from '../../venue/terms.js';
import { COLLATERAL, coinOfSide, tokenOfSide } from './markets.js';
import { decimal, dollars } from './decimals.js';

const ZERO_ADDRESS = `0x${'0'.repeat(40)}`;

export function hashOfName(name: string): string {
  return `0x${createHash('sha256').update(name).digest('hex')}`;
}

export function openOrder(order: VenueOrder): object {
  return {
    ...{ coin: coinOfSide(order), side: order.side === 'buy' ? 'B' : 'A', limitPx: decimal(order.price) },
    ...{ sz: decimal(order.size - order.filled), oid: Number(order.order_id), timestamp: order.placed_at },
    origSz: decimal(order.size),
    ...(order.client_id === undefined ? {} : { cloid: order.client_id }),
  };
}

export function frontendOrder(order: VenueOrder): object {
  const tif = order.post_only === true ? 'Alo' : order.lifetime === 'rest' ? 'Gtc' : 'Ioc';
  return {
    ...openOrder(order),
    ...{ triggerCondition: 'N/A', isTrigger: false, triggerPx: '0.0', children: [] },
    ...{ isPositionTpsl: false, reduceOnly: false, orderType: 'Limit', tif, cloid: order.client_id ?? null },
  };
}

/** The status of an order in the venue's terms. */
export function processingStatus({ status, cause, filled }: VenueOrder): string {
  if (status === 'resting') return 'open';
  if (status === 'executed') return 'filled';
  switch (cause) {
    case 'market-closed':
      return 'outcomeSettledCanceled';
    case 'own-order':
      return 'selfTradeCanceled';
    case 'unfilled':
      return filled === 0 ? 'iocCancelRejected' : 'canceled';
    default:
      return 'canceled';
  }
}

export function fillRecord(fill: VenueFill): object {
  return {
    ...{ coin: coinOfSide(fill), px: decimal(fill.price), sz: decimal(fill.size) },
    ...{ side: fill.side === 'buy' ? 'B' : 'A', time: fill.at, startPosition: '0.0' },
    ...{ dir: fill.side === 'buy' ? 'Buy' : 'Sell', closedPnl: '0.0' },
    ...{ hash: hashOfName(`trade/${fill.trade_id}`), oid: Number(fill.order_id) },
    ...{ crossed: fill.liquidity === 'taker', fee: '0.0', tid: Number(fill.trade_id) },
    ...{ feeToken: COLLATERAL.coin, twapId: null },
    ...(fill.client_id === undefined ? {} : { cloid: fill.client_id }),
  };
}

/** The traders are not shown. */
export function tradeRecord(trade: VenueTrade): object {
  const price = trade.taker_outcome === 0 ? trade.price : ONE_DOLLAR - trade.price;
  return {
    coin: coinOfSide({ market_id: trade.market_id, outcome: trade.taker_outcome }),
    ...{ side: trade.taker_side === 'buy' ? 'B' : 'A', px: decimal(price), sz: decimal(trade.size) },
    ...{ time: trade.at, hash: hashOfName(`trade/${trade.trade_id}`), tid: Number(trade.trade_id) },
    users: [ZERO_ADDRESS, ZERO_ADDRESS],
  };
}

/** A send is identified by its sender and nonce. */
export function sendName(from: string, nonce: number): string {
  return `${from}/${nonce}`;
}

/** `outcomeSettlement` is ours: the real venue's form is not published. */
export function ledgerUpdate(movement: Movement): object {
  const { movement_id: id, account, kind, amount, at, size } = movement;
  const hash = hashOfName(`movement/${id}/${kind}`);
  return { time: at, hash, delta: deltaOf() };

  function deltaOf(): object {
    if (kind === 'deposit') return { type: 'deposit', usdc: dollars(amount) };
    const side =
      movement.market_id === undefined || movement.outcome === undefined
        ? undefined
        : { market_id: movement.market_id, outcome: movement.outcome };
    if (kind === 'payout' || kind === 'pairs') {
      const coin = side === undefined ? '' : coinOfSide(side);
      return { type: 'outcomeSettlement', coin, sz: decimal(size ?? 0), usdc: dollars(amount) };
    }
    const other = movement.with ?? ZERO_ADDRESS;
    const [user, destination] = kind === 'transfer-out' ? [account, other] : [other, account];
    const what =
      side === undefined
        ? { token: COLLATERAL.coin, amount: dollars(amount), usdcValue: dollars(amount) }
        : { token: tokenOfSide(side), amount: decimal(size ?? 0), usdcValue: '0.0' };
    return {
      ...{ type: 'spotTransfer', ...what, user, destination, fee: '0.0', nativeTokenFee: '0.0' },
      ...{ nonce: Number(id.split('/')[1]), feeToken: '' },
    };
  }
}
