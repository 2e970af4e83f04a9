import type { Instant } from '#libs/base/instant.js';
import type { CellEvent, HoldingEvent, OrderEvent, TransferTerms } from './events.js';
import { dividedBy, ONE, timesMicros, type Micros } from './micros.js';
import type { OrderFailure, OrderFill, OrderTerms } from './order.js';
import { CAPABILITIES, type VenueId } from './venues.js';
import type { OrderSide } from './amounts.js';

/**
 * Cost and gain of positions, in units of 10^-24. Averages are seldom whole numbers. The last of the six decimals that callers see
 * must not depend on how often an amount was divided.
 */
type Fine = bigint;
const FINE = 10n ** 12n;
/** The largest error of a sum of rounded parts. */
const FINE_NOISE = 10n ** 6n;

export interface Position {
  readonly venue: VenueId;
  readonly market_id: string;
  readonly outcome: string;
  readonly token_id?: string;
  /** The user's account at the venue, or the wallet that holds the tokens. */
  readonly wallet: string;
  readonly quantity: Micros;
  /** What the present quantity cost, without fees. */
  readonly cost: Fine;
  /** The gain from sales and payouts, without fees. */
  readonly gain: Fine;
  readonly fees: Micros;
  readonly last_trade_at?: Instant;
  /** When the quantity last became zero. Absent while it is not zero. */
  readonly closed_at?: Instant | undefined;
}

export interface Transfer {
  readonly terms: TransferTerms;
  readonly status: 'PENDING' | 'IN_TRANSIT' | 'COMPLETED' | 'FAILED';
  readonly created_at: Instant;
  readonly completed_at?: Instant;
  readonly reference?: string;
  readonly failure?: OrderFailure;
}

/** At a venue with two shards of collateral, the sum of both. Only the venue knows how much each shard has. */
export interface HeldCash {
  readonly venue: VenueId;
  readonly asset: string;
  readonly value: Micros;
}

export interface AccountDifference {
  readonly venue: VenueId;
  readonly asset: string;
  readonly recorded: Micros;
  readonly observed: Micros;
  readonly since: Instant;
}

/** What one user has at all venues, according to our own records. */
export interface Holdings {
  readonly links: ReadonlyMap<VenueId, { readonly account: string; readonly linked_at: Instant }>;
  /** By `cashKey`. */
  readonly cash: ReadonlyMap<string, HeldCash>;
  /** By `positionKey`. */
  readonly positions: ReadonlyMap<string, Position>;
  readonly transfers: ReadonlyMap<string, Transfer>;
  /** By venue and asset. */
  readonly differences: ReadonlyMap<string, AccountDifference>;
}

export const emptyHoldings: Holdings = {
  links: new Map(),
  cash: new Map(),
  positions: new Map(),
  transfers: new Map(),
  differences: new Map(),
};

export interface PositionName {
  readonly market_id: string;
  readonly outcome: string;
  readonly token_id?: string;
}

/** The asset name of one outcome's tokens at a venue. */
export function tokenOf({ token_id, market_id, outcome }: PositionName): string {
  return token_id ?? `${market_id}:${outcome}`;
}

export function positionKey(venue: VenueId, name: PositionName, wallet: string): string {
  return `${venue}/${name.market_id}/${tokenOf(name)}/${wallet}`;
}

export function cashKey(venue: VenueId, asset: string): string {
  return `${venue}/${asset}`;
}

/** The cash change of one fill. Rounded against the user, as the venue does it. */
export function cashOfFill(side: OrderSide, { price, quantity, fee }: OrderFill): Micros {
  return side === 'buy'
    ? -timesMicros(price, quantity, 'up') - fee
    : timesMicros(price, quantity, 'down') - fee;
}

/** The average cost per share in hundredths of a cent, half rounded up. Zero if no shares are held. */
export function averageBps({ cost, quantity }: Pick<Position, 'cost' | 'quantity'>): number {
  if (quantity <= 0n) return 0;
  const unit = quantity * FINE * (ONE / 10_000n);
  return Number(dividedBy(2n * cost + unit, 2n * unit, 'down'));
}

/** The gain less all fees so far, rounded down to six decimals. */
export function realizedPnl({ gain, fees }: Pick<Position, 'gain' | 'fees'>): Micros {
  const unit = FINE * ONE;
  const exact = gain + FINE_NOISE;
  const whole = exact / unit;
  return (exact < 0n && whole * unit !== exact ? whole - 1n : whole) - fees;
}

/** Fills are the only order events that change positions and cash. `orderOf` finds the order of a fill. */
export function evolveHoldings(
  holdings: Holdings,
  event: CellEvent,
  orderOf: (order_id: string) => { readonly terms: OrderTerms } | undefined,
): Holdings {
  if (event.type === 'ORDER_FILLED') {
    const order = orderOf(event.order_id);
    return order === undefined ? holdings : withFill(holdings, order.terms, event);
  }
  return isHoldingEvent(event) ? evolveVenue(holdings, event) : holdings;
}

export function isHoldingEvent(event: CellEvent): event is HoldingEvent {
  return 'venue' in event && event.type !== 'CANCEL_TIMER_ARMED';
}

function walletAt({ links }: Holdings, venue: VenueId): string {
  return links.get(venue)?.account ?? '';
}

function put<Key, Value>(map: ReadonlyMap<Key, Value>, key: Key, value: Value): ReadonlyMap<Key, Value> {
  return new Map(map).set(key, value);
}

function withCash(holdings: Holdings, venue: VenueId, value: Micros): Holdings {
  const asset = CAPABILITIES[venue].settlement_currency;
  const key = cashKey(venue, asset);
  const before = holdings.cash.get(key)?.value ?? 0n;
  return { ...holdings, cash: put(holdings.cash, key, { venue, asset, value: before + value }) };
}

function withFill(
  holdings: Holdings,
  terms: OrderTerms,
  { fill }: Extract<OrderEvent, { type: 'ORDER_FILLED' }>,
): Holdings {
  const { venue, side } = terms;
  const paid = withCash(holdings, venue, cashOfFill(side, fill));
  const { occurred_at: at, price, quantity, fee } = fill;
  const trade = { side, quantity, value: price * quantity * FINE, at };
  return withTrade(paid, venue, terms, trade, fee);
}

interface Trade {
  readonly side: OrderSide;
  readonly quantity: Micros;
  readonly value: Fine;
  readonly at: Instant;
}

function withTrade(
  holdings: Holdings,
  venue: VenueId,
  name: PositionName,
  trade: Trade,
  fee: Micros = 0n,
): Holdings {
  const wallet = walletAt(holdings, venue);
  const key = positionKey(venue, name, wallet);
  const position = holdings.positions.get(key) ?? emptyPosition(venue, name, wallet);
  const traded = trade.side === 'buy' ? bought(position, trade) : sold(position, trade);
  const after = { ...traded, fees: position.fees + fee, last_trade_at: trade.at };
  return { ...holdings, positions: put(holdings.positions, key, after) };
}

function emptyPosition(venue: VenueId, name: PositionName, wallet: string): Position {
  const { market_id, outcome, token_id } = name;
  const named = { venue, market_id, outcome, ...(token_id === undefined ? {} : { token_id }), wallet };
  return { ...named, quantity: 0n, cost: 0n, gain: 0n, fees: 0n };
}

function bought(position: Position, { quantity, value }: Trade): Position {
  const held = position.quantity + quantity;
  return { ...position, quantity: held, cost: position.cost + value, closed_at: undefined };
}

/** Sold shares take their part of the cost with them, so the average stays. A sell may exceed the holding if our records miss a buy. */
function sold(position: Position, { quantity, value, at }: Trade): Position {
  const known = quantity < position.quantity ? quantity : position.quantity;
  const cost =
    known <= 0n || position.quantity <= 0n
      ? 0n
      : dividedBy(position.cost * known * 2n + position.quantity, position.quantity * 2n, 'down');
  const held = position.quantity - quantity;
  return {
    ...position,
    quantity: held,
    cost: position.cost - cost,
    gain: position.gain + value - cost,
    closed_at: held === 0n ? at : undefined,
  };
}

function evolveVenue(holdings: Holdings, event: HoldingEvent): Holdings {
  switch (event.type) {
    case 'VENUE_LINKED':
      return linked(holdings, event);
    case 'BALANCE_MOVED':
      return moved(holdings, event);
    case 'COLLATERAL_MOVED':
      return holdings;
    case 'PAIRS_PAID':
      return pairsPaid(holdings, event);
    case 'POSITION_PAID':
      return positionPaid(holdings, event);
    case 'DIFFERENCE_FOUND': {
      const { venue, asset, recorded, observed, at } = event;
      const key = `${venue}/${asset}`;
      const since = holdings.differences.get(key)?.since ?? at;
      const difference = { venue, asset, recorded, observed, since };
      return { ...holdings, differences: put(holdings.differences, key, difference) };
    }
    case 'DIFFERENCE_ENDED': {
      const differences = new Map(holdings.differences);
      differences.delete(`${event.venue}/${event.asset}`);
      return { ...holdings, differences };
    }
    default:
      return transferred(holdings, event);
  }
}

type EventOf<Type extends HoldingEvent['type']> = Extract<HoldingEvent, { type: Type }>;

/** A new account has its own money, so the cash of the former account is dropped. */
function linked(holdings: Holdings, { venue, account, at }: EventOf<'VENUE_LINKED'>): Holdings {
  const before = holdings.links.get(venue);
  const links = put(holdings.links, venue, { account, linked_at: before?.linked_at ?? at });
  if (before === undefined || before.account === account) return { ...holdings, links };
  const cash = new Map([...holdings.cash].filter(([, held]) => held.venue !== venue));
  return { ...holdings, links, cash };
}

function moved(holdings: Holdings, event: EventOf<'BALANCE_MOVED'>, named?: PositionName): Holdings {
  const { venue, asset, amount, occurred_at: at } = event;
  if (asset === CAPABILITIES[venue].settlement_currency) return withCash(holdings, venue, amount);
  const name = named ?? namedToken(holdings, venue, asset);
  // Tokens that move without a trade keep their average cost, so there is no gain.
  const wallet = walletAt(holdings, venue);
  const key = positionKey(venue, name, wallet);
  const position = holdings.positions.get(key) ?? emptyPosition(venue, name, wallet);
  const { cost, quantity } = position;
  const part = quantity <= 0n ? 0n : (cost * (amount < 0n ? -amount : amount)) / quantity;
  const trade = { quantity: amount < 0n ? -amount : amount, value: part, at };
  const after =
    amount < 0n ? sold(position, { ...trade, side: 'sell' }) : bought(position, { ...trade, side: 'buy' });
  return { ...holdings, positions: put(holdings.positions, key, after) };
}

/** The market and outcome of a token, from a position in it or else from the form of its id. */
function namedToken({ positions }: Holdings, venue: VenueId, asset: string): PositionName {
  for (const position of positions.values()) {
    if (position.venue === venue && tokenOf(position) === asset) return position;
  }
  const colon = asset.lastIndexOf(':');
  if (colon > 0) return { market_id: asset.slice(0, colon), outcome: asset.slice(colon + 1) };
  const encoding = /^#(\d+)(\d)$/.exec(asset);
  const [, market_id = asset, outcome = asset] = encoding ?? [];
  return { market_id, outcome, token_id: asset };
}

const HALF = ONE / 2n;

/** Books both outcomes as sold at half a dollar each. */
function pairsPaid(holdings: Holdings, event: EventOf<'PAIRS_PAID'>): Holdings {
  const { venue, market_id, quantity, at } = event;
  const wallet = walletAt(holdings, venue);
  const pair = [...holdings.positions.values()].filter(
    (position) => position.venue === venue && position.market_id === market_id && position.wallet === wallet,
  );
  const trade = { side: 'sell', quantity, value: HALF * quantity * FINE, at } as const;
  const sides = pair.reduce((after, position) => withTrade(after, venue, position, trade), holdings);
  return withCash(sides, venue, quantity);
}

function positionPaid(holdings: Holdings, event: EventOf<'POSITION_PAID'>): Holdings {
  const { venue, quantity, payout, at } = event;
  const trade = { side: 'sell', quantity, value: payout * ONE * FINE, at } as const;
  return withCash(withTrade(holdings, venue, event, trade), venue, payout);
}

type TransferEvent = EventOf<'TRANSFER_HELD' | 'TRANSFER_SENT' | 'TRANSFER_COMPLETED' | 'TRANSFER_FAILED'>;

function transferred(holdings: Holdings, event: TransferEvent): Holdings {
  const { at } = event;
  if (event.type === 'TRANSFER_HELD') {
    const { terms } = event;
    const transfer = { terms, status: 'PENDING', created_at: at } as const;
    return { ...holdings, transfers: put(holdings.transfers, terms.transfer_id, transfer) };
  }
  const before = holdings.transfers.get(event.transfer_id);
  if (before === undefined) return holdings;
  const transfer = stepped(before, event);
  const after = { ...holdings, transfers: put(holdings.transfers, event.transfer_id, transfer) };
  if (event.type !== 'TRANSFER_COMPLETED') return after;
  const { venue, asset, token, amount, direction } = before.terms;
  const signed = direction === 'to_vault' ? -amount : amount;
  const movement = { movement: 'DEPOSIT', entry_id: event.reference, occurred_at: at } as const;
  const moving = { ...event, type: 'BALANCE_MOVED', venue, asset, amount: signed, ...movement } as const;
  return moved(after, moving, token === undefined ? undefined : { ...token, token_id: asset });
}

function stepped(before: Transfer, event: Exclude<TransferEvent, { type: 'TRANSFER_HELD' }>): Transfer {
  switch (event.type) {
    case 'TRANSFER_SENT':
      return { ...before, status: 'IN_TRANSIT', reference: event.reference };
    case 'TRANSFER_COMPLETED':
      return { ...before, status: 'COMPLETED', reference: event.reference, completed_at: event.at };
    case 'TRANSFER_FAILED':
      return { ...before, status: 'FAILED', failure: event.failure, completed_at: event.at };
  }
}
