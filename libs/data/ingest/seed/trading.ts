import type { LedgerEvent, MarketDataEvent, TradeEvent } from '../../rules/events.js';
import { PROVIDER_FACTS, PROVIDERS, type Provider } from '../../rules/providers.js';
import { FULL_PRICE, MILLION } from '../../rules/scales.js';
import { MICROS_PER_SECOND } from '../../rules/times.js';
import { digest, numberOf, uuidOf } from './identities.js';
import type { SeedMarket } from './market.js';
import { onGrid, outcomePrice, priceAt } from './prices.js';
import { Draws, mixed } from './random.js';
import { tradesOfTurn, type TradingMoment } from './turns.js';

const WALLETS = 48;
const LATE_BY_SECONDS = 70;
const BUSTED_AFTER_SECONDS = 40;
/** The delays with which late events of a moment may come. */
export const DELAYS_SECONDS = [LATE_BY_SECONDS, BUSTED_AFTER_SECONDS];

/** All events of a moment. */
export function eventsOfMoment(market: SeedMarket, moment: TradingMoment): MarketDataEvent[] {
  const trades = tradesOf(market, moment);
  return trades.flatMap((trade, index) =>
    isBusted(market, moment, index)
      ? [trade, bustOf(trade)]
      : [trade, ...entriesOf(market, moment, trade, index)],
  );
}

/** Whether the venue or its chain takes this trade back. */
export function isBusted({ provider, key }: SeedMarket, { turn }: TradingMoment, index: number): boolean {
  return provider !== 'venue_e' && new Draws(mixed(key, 0x10000 + turn * 8 + index)).oneIn(60);
}

function bustOf(trade: TradeEvent): MarketDataEvent {
  const at = trade.source_ts + BUSTED_AFTER_SECONDS * MICROS_PER_SECOND;
  return {
    ...{ type: 'TRADE_BUST', provider: trade.provider, source_id: `bust-${trade.source_id.slice(-110)}` },
    ...{ trade_source_id: trade.source_id, source_ts: at, received_at: at },
  };
}

/** Several trades at one moment are one order that matches several others, on chain in one transaction. */
export function tradesOf(market: SeedMarket, moment: TradingMoment): TradeEvent[] {
  const { turn } = moment;
  const { count, before } = tradesOfTurn(market.pace, turn);
  const order = orderOf(market, moment);
  const hash = digest(market.provider, market.market_id, turn);
  return Array.from({ length: count }, (_none, index) =>
    tradeOf(market, moment, { ...order, hash, index, number: before + index }),
  );
}

interface TakersOrder {
  readonly outcome: number;
  readonly side: 'buy' | 'sell';
  readonly taker: string;
  /** The contracts of each match. */
  readonly size: bigint;
  readonly isTracked: boolean;
}

/** Every second order may sell half of what the order before it bought. */
function orderOf(market: SeedMarket, { turn }: TradingMoment): TakersOrder {
  const own = freshOrder(market, turn);
  if (turn % 2 === 0 || new Draws(mixed(market.key, 0x20000 + turn)).oneIn(2)) return own;
  const bought = freshOrder(market, turn - 1);
  return { ...bought, side: 'sell', size: bought.size / 2n };
}

function freshOrder(market: SeedMarket, turn: number): TakersOrder {
  const draws = new Draws(mixed(market.key, 0x30000 + turn));
  const magnitude = draws.of([1, 10, 10, 100, 100, 1_000]);
  return {
    outcome: draws.below(market.outcomes.length),
    side: 'buy',
    taker: walletOf(market.provider, draws.below(WALLETS)),
    // An even number of contracts, so that half is whole.
    size: BigInt(2 * draws.between(1, 9) * magnitude) * (MILLION / 2n) * 2n,
    isTracked: draws.oneIn(3),
  };
}

const WALLETS_OF = new Map(
  PROVIDERS.map((provider) => [
    provider,
    Array.from(
      { length: 2 * WALLETS },
      (_none, index) => `0x${digest('wallet', provider, index).slice(0, 40)}`,
    ),
  ]),
);

/** The same in all worlds. */
function walletOf(provider: Provider, index: number): string {
  return WALLETS_OF.get(provider)?.[index] ?? '';
}

interface Match extends TakersOrder {
  /** Unique for each order. */
  readonly hash: string;
  /** Its index among the matches of the order. */
  readonly index: number;
  /** Its number among the trades of the market, from 0. */
  readonly number: number;
}

const MILLIS = 1_000;
const NUMBERED: readonly Provider[] = ['venue_b', 'venue_d'];

function tradeOf(market: SeedMarket, { turn, second }: TradingMoment, match: Match): TradeEvent {
  const { provider, market_id, key } = market;
  const { outcome, side, size, hash, index, number } = match;
  const draws = new Draws(mixed(key, 0x40000 + turn * 8 + index));
  const middle = outcomePrice(priceAt(market.path, second), outcome, market.outcomes.length);
  // The second and third match of an order are equal: only their ids differ.
  const steps = side === 'buy' ? 1 + Math.min(index, 1) : -1 - Math.min(index, 1);
  const isOnChain = PROVIDER_FACTS[provider].chainId !== '';
  const millis = isOnChain ? 0 : (mixed(key, 0x70000 + turn) % 900) + index;
  const at = second * MICROS_PER_SECOND + millis * MILLIS;
  const tx_hash = `0x${hash}`;
  const isNumbered = NUMBERED.includes(provider);
  // Where trades are numbered, a late one would look like a gap.
  const isLate = isOnChain && !isNumbered && draws.oneIn(40);
  return {
    ...{ type: 'TRADE', provider, market_id, outcome_index: outcome },
    source_id: tradeIdOf(provider, hash, index),
    ...{ source_ts: at, received_at: isLate ? at + LATE_BY_SECONDS * MICROS_PER_SECOND : at, side },
    ...{ price: onGrid(middle + steps * market.tick, market.tick), size },
    ...(isNumbered ? { seq: BigInt(number + 1) } : {}),
    ...(PROVIDER_FACTS[provider].showsWallets
      ? { taker: match.taker, maker: walletOf(provider, WALLETS + draws.below(WALLETS)), tx_hash }
      : {}),
  };
}

function tradeIdOf(provider: Provider, hash: string, index: number): string {
  if (PROVIDER_FACTS[provider].chainId !== '') return `0x${hash}:${String(10 + 3 * index)}`;
  const own = `${String(index)}${hash}`;
  return provider === 'venue_b' ? uuidOf(own) : numberOf(own);
}

/** The ledger entries of a trade: for tracked wallets all their trades, for others none. */
function entriesOf(
  market: SeedMarket,
  { turn }: TradingMoment,
  trade: TradeEvent,
  index: number,
): LedgerEvent[] {
  const { taker, tx_hash, side, outcome_index, price, size, source_ts, received_at, source_id } = trade;
  if (taker === undefined || !orderOf(market, { turn, second: 0 }).isTracked) return [];
  const { provider, market_id } = market;
  const common = { type: 'LEDGER', provider, market_id, source_ts, received_at } as const;
  const entry: LedgerEvent = {
    ...{ ...common, source_id: `t-${source_id}`, wallet: taker, kind: side === 'sell' ? 'SELL' : 'BUY' },
    ...{ outcome_index, price, size, fee: feeOf(price, size) },
    ...(tx_hash === undefined ? {} : { tx_hash }),
  };
  return index === 0 ? [entry, ...movementsOf(market, turn, entry)] : [entry];
}

/** Two percent of p (1 - p). */
function feeOf(price: number, size: bigint): bigint {
  return (BigInt(price) * BigInt(FULL_PRICE - price) * size) / (50n * MILLION * MILLION);
}

/** Sometimes a wallet splits cash into contracts, merges half of them back, and transfers some to another wallet. */
function movementsOf(market: SeedMarket, turn: number, entry: LedgerEvent): LedgerEvent[] {
  if (!new Draws(mixed(market.key, 0x50000 + turn)).oneIn(6)) return [];
  const { type, provider, market_id, source_ts, received_at, wallet, outcome_index, tx_hash } = entry;
  const common = { type, provider, market_id, source_ts, received_at, wallet };
  const of = (
    kind: LedgerEvent['kind'],
    over: Partial<LedgerEvent> & Pick<LedgerEvent, 'size'>,
  ): LedgerEvent => ({
    ...{ ...common, kind, source_id: `${kind.toLowerCase()}-${entry.source_id.slice(-100)}` },
    ...(tx_hash === undefined ? {} : { tx_hash }),
    ...over,
  });
  const index = outcome_index === undefined ? {} : { outcome_index };
  const other = walletOf(market.provider, turn % WALLETS);
  const part = entry.size / 4n;
  return [
    of('SPLIT', { size: entry.size }),
    of('MERGE', { size: entry.size / 2n }),
    ...(other === entry.wallet
      ? []
      : [
          of('TRANSFER_OUT', { ...index, size: part }),
          of('TRANSFER_IN', { ...index, size: part, wallet: other }),
        ]),
  ];
}
