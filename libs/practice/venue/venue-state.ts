import { costOf, type Cash, type CashBalance, type Holding } from '../matching/accounts.js';
import {
  MatchingExchange,
  type ExchangeFill,
  type FeeSchedule,
  type FillLiquidity,
  type PlaceResult,
  type Trade,
} from '../matching/exchange.js';
import { ONE_DOLLAR } from '../matching/order-book.js';
import type { BookSide, Level, OutcomeIndex, RestingOrder, SizeMicros } from '../matching/order-book.js';
import { BOTS, botQuote, type BookStyle } from './bot-quote.js';
import { VenueRecords } from './venue-records.js';
import type {
  CancelReason,
  CommandOf,
  LoggedCommand,
  Millis,
  VenueEvent,
  VenueFill,
  VenueOrder,
  VenueRefusal,
  VenueReply,
  VenueTrade,
  Movement,
} from './terms.js';
import type { ListedMarket, VenuePosition, VenueReads } from './venue-reads.js';

export interface VenueRules {
  readonly fees: FeeSchedule;
  readonly pays_pairs: boolean;
  readonly book: BookStyle;
}

export interface AppliedCommand {
  readonly reply: VenueReply;
  readonly events: readonly VenueEvent[];
}

/** Converts millionths of a dollar to the engine's unit. */
const CASH_OF_MICROS = 1_000_000n;
const BOT_CASH = costOf(ONE_DOLLAR, 4_000_000_000_000_000);
const BOT_PAIRS = 100_000_000_000_000;
const NOTHING: Readonly<Record<FillLiquidity, Cash>> = { maker: 0n, taker: 0n };

/** A venue as a fold of its log of commands. */
export class VenueState implements VenueReads {
  private readonly exchange: MatchingExchange;
  private readonly records = new VenueRecords();
  private readonly listed = new Map<string, ListedMarket>();
  private readonly accounts = new Map<string, Readonly<Record<string, string>>>();
  private readonly accountOfKey = new Map<string, string>();
  private readonly botOrders = new Map<string, readonly string[]>();
  private readonly done = new Set<string>();
  private events: VenueEvent[] = [];

  constructor(private readonly rules: VenueRules) {
    this.exchange = new MatchingExchange(rules);
    this.exchange.accounts.pay(BOTS, BOT_CASH);
  }

  /** A refused command has changed nothing and must not be logged. */
  apply(command: LoggedCommand): AppliedCommand {
    if (command.once !== undefined && this.done.has(command.once))
      return { reply: refusal('known'), events: [] };
    const reply = this.execute(command);
    if (reply.ok && command.once !== undefined) this.done.add(command.once);
    this.bookPayments(command.at);
    const { events } = this;
    this.events = [];
    return { reply, events };
  }

  market(marketId: string): ListedMarket | undefined {
    return this.listed.get(marketId);
  }

  markets(): Iterable<ListedMarket> {
    return this.listed.values();
  }

  levels(marketId: string, outcome: OutcomeIndex, side: BookSide, of?: 'market' | 'outcome'): Level[] {
    return this.exchange.market(marketId)?.book.levels(outcome, side, of) ?? [];
  }

  trades(marketId: string): readonly VenueTrade[] {
    return this.records.trades(marketId);
  }

  tradesOfAll(): readonly VenueTrade[] {
    return this.records.tradesOfAll();
  }

  order(orderId: string): VenueOrder | undefined {
    return this.records.order(orderId);
  }

  orderByClientId(account: string, clientId: string): VenueOrder | undefined {
    return this.records.orderByClientId(account, clientId);
  }

  ordersOf(account: string): readonly VenueOrder[] {
    return this.records.ordersOf(account);
  }

  ordersIn(marketId: string): readonly VenueOrder[] {
    return this.records.ordersIn(marketId);
  }

  fillsOf(account: string): readonly VenueFill[] {
    return this.records.fillsOf(account);
  }

  movementsOf(account: string): readonly Movement[] {
    return this.records.movementsOf(account);
  }

  /** Resting orders with an expiry. */
  expiring(): Iterable<VenueOrder> {
    return this.records.expiring();
  }

  hasAccount(account: string): boolean {
    return this.accounts.has(account);
  }

  keysOf(account: string): Readonly<Record<string, string>> {
    return this.accounts.get(account) ?? {};
  }

  accountWithKey(name: string): string | undefined {
    return this.accountOfKey.get(name);
  }

  cash(account: string): CashBalance {
    return this.exchange.accounts.cashOf(account);
  }

  freeCash(account: string): Cash {
    const { total, held } = this.cash(account);
    return total - held;
  }

  holding(account: string, marketId: string, outcome: OutcomeIndex): Holding {
    return this.exchange.accounts.holding(account, marketId, outcome);
  }

  freeShares(account: string, marketId: string, outcome: OutcomeIndex): SizeMicros {
    const { total, held } = this.holding(account, marketId, outcome);
    return total - held;
  }

  positionsOf(account: string): readonly VenuePosition[] {
    const positions: VenuePosition[] = [];
    for (const market_id of this.listed.keys()) {
      for (const outcome of [0, 1] as const) {
        const holding = this.holding(account, market_id, outcome);
        if (holding.total > 0) positions.push({ market_id, outcome, holding });
      }
    }
    return positions;
  }

  isDone(once: string): boolean {
    return this.done.has(once);
  }

  private execute(command: LoggedCommand): VenueReply {
    switch (command.do) {
      case 'list':
        return this.list(command, command.at);
      case 'open':
        return this.open(command);
      case 'credit':
        return this.credit(command, command.at);
      case 'transfer':
        return this.transfer(command, command.at);
      case 'place':
        return this.place(command, command.at);
      case 'cancel':
        return this.cancel(command, command.at);
      case 'amend':
        return this.amend(command, command.at);
      case 'status':
        return this.setStatus(command, command.at);
      case 'resolve':
        return this.resolve(command, command.at);
      case 'quote':
        return this.quote(command, command.at);
    }
  }

  private list({ market }: CommandOf<'list'>, at: Millis): VenueReply {
    const { market_id: id, grid, seeded } = market;
    if (this.listed.has(id)) return refusal('known');
    this.exchange.list(id, grid);
    const unresolved = { payouts: undefined, resolved_at: undefined };
    this.listed.set(id, { terms: market, status: 'open', changed_at: at, ...unresolved });
    if (seeded && this.rules.book === 'a-side') this.exchange.mint(BOTS, id, BOT_PAIRS);
    this.events.push({ what: 'market', market_id: id, status: 'open' });
    return { ok: true };
  }

  private open({ account, keys }: CommandOf<'open'>): VenueReply {
    if (Object.keys(keys).some((name) => this.accountOfKey.has(name))) return refusal('known');
    this.accounts.set(account, { ...this.accounts.get(account), ...keys });
    for (const name of Object.keys(keys)) this.accountOfKey.set(name, account);
    return { ok: true };
  }

  /** Credited shares make no movement, so reconciliation could not explain them. They are only for the vault. */
  private credit({ account, amount, movement_id, shares }: CommandOf<'credit'>, at: Millis): VenueReply {
    if (shares !== undefined) {
      this.exchange.accounts.move(account, shares.market_id, shares.outcome, Number(amount));
      return { ok: true };
    }
    const cash = BigInt(amount) * CASH_OF_MICROS;
    this.exchange.accounts.pay(account, cash);
    this.emitMovement({ movement_id, account, kind: 'deposit', amount: cash, at });
    return { ok: true };
  }

  private transfer(command: CommandOf<'transfer'>, at: Millis): VenueReply {
    const { from, to, movement_id, shares } = command;
    const cash = BigInt(command.amount) * CASH_OF_MICROS;
    const size = Number(command.amount);
    if (shares === undefined) {
      if (this.freeCash(from) < cash) return refusal('no-cash');
      this.exchange.accounts.pay(from, -cash);
      this.exchange.accounts.pay(to, cash);
    } else if (!this.exchange.handOver(from, to, shares.market_id, shares.outcome, size)) {
      return refusal('no-shares');
    }
    const what = shares === undefined ? { amount: cash } : { amount: 0n, size, ...shares };
    this.emitMovement({ movement_id, account: from, kind: 'transfer-out', with: to, at, ...what });
    this.emitMovement({ movement_id, account: to, kind: 'transfer-in', with: from, at, ...what });
    return { ok: true };
  }

  private place({ order: terms }: CommandOf<'place'>, at: Millis): VenueReply {
    const { account, client_id: clientId, market_id: marketId } = terms;
    if (clientId !== undefined && this.records.orderByClientId(account, clientId) !== undefined)
      return refusal('duplicate-client-id');
    const placed = this.exchange.place(marketId, terms);
    if (!placed.ok) return placed;
    this.records.add({
      ...terms,
      ...{ filled: 0, remaining: terms.size, status: 'resting', cost: NOTHING, fees: NOTHING },
      ...{ placed_at: at, updated_at: at },
    });
    return this.placed(terms.order_id, placed, at);
  }

  private amend({ order_id, price, remaining, client_id }: CommandOf<'amend'>, at: Millis): VenueReply {
    const order = this.records.order(order_id);
    if (order === undefined) return refusal('unknown-order');
    if (order.status !== 'resting') return refusal('not-resting');
    if (client_id !== undefined && client_id !== order.client_id) {
      if (this.records.orderByClientId(order.account, client_id) !== undefined)
        return refusal('duplicate-client-id');
    }
    const amended = this.exchange.amend(order_id, price, remaining, order.post_only === true);
    if (!amended.ok) return amended;
    const named = client_id === undefined ? {} : { client_id };
    this.records.change(order_id, { price, remaining, size: order.filled + remaining, ...named }, at);
    return this.placed(order_id, amended, at);
  }

  /** Books the result of an order that has just met the book. */
  private placed(orderId: string, placed: PlaceResult & { readonly ok: true }, at: Millis): VenueReply {
    const fills = placed.trades.flatMap((trade) => this.bookTrade(trade, at));
    const order = this.records.order(orderId);
    if (order === undefined) throw new RangeError(`${orderId} is not known`);
    if (order.remaining > 0 && placed.rests === 0) {
      const cause: CancelReason = placed.met_own ? 'own-order' : 'unfilled';
      this.records.change(orderId, { status: 'cancelled', remaining: 0, cause }, at);
    }
    const known = this.emitOrder(orderId);
    this.emitBook(order.market_id);
    return { ok: true, ...known, fills: fills.filter(({ order_id: id }) => id === orderId) };
  }

  private cancel({ order_id: id, why }: CommandOf<'cancel'>, at: Millis): VenueReply {
    const known = this.records.order(id);
    if (known === undefined) return refusal('unknown-order');
    const back = this.exchange.cancel(id);
    if (back === undefined) return refusal('not-resting');
    this.recordCancelled([back], why, at);
    this.emitBook(known.market_id);
    const order = this.records.order(id);
    return { ok: true, ...(order === undefined ? {} : { order }), taken_back: back.remaining };
  }

  private setStatus({ market_id: id, status }: CommandOf<'status'>, at: Millis): VenueReply {
    const market = this.listed.get(id);
    if (market === undefined) return refusal('unknown-market');
    if (market.status === 'resolved') return refusal('resolved');
    const back = this.exchange.setStatus(id, status);
    this.listed.set(id, { ...market, status, changed_at: at });
    this.recordCancelled(back, 'market-closed', at);
    this.events.push({ what: 'market', market_id: id, status });
    if (back.length > 0) this.emitBook(id);
    return { ok: true };
  }

  private resolve({ market_id: id, payouts }: CommandOf<'resolve'>, at: Millis): VenueReply {
    const market = this.listed.get(id);
    if (market === undefined) return refusal('unknown-market');
    if (market.status === 'resolved') return refusal('resolved');
    const back = this.exchange.resolve(id, payouts);
    this.listed.set(id, { ...market, status: 'resolved', payouts, resolved_at: at, changed_at: at });
    this.recordCancelled(back, 'market-closed', at);
    this.events.push({ what: 'market', market_id: id, status: 'resolved' });
    this.emitBook(id);
    return { ok: true };
  }

  private quote({ market_id: id, middle }: CommandOf<'quote'>, at: Millis): VenueReply {
    const market = this.listed.get(id);
    if (market === undefined) return refusal('unknown-market');
    if (market.status !== 'open') return refusal('not-open');
    for (const orderId of this.botOrders.get(id) ?? []) this.exchange.cancel(orderId);
    const ids: string[] = [];
    for (const quote of botQuote(market.terms.grid, this.rules.book, middle)) {
      const order_id = `${BOTS}-${id}-${ids.length}`;
      const placed = this.exchange.place(id, { order_id, account: BOTS, lifetime: 'rest', ...quote });
      if (!placed.ok) continue;
      ids.push(order_id);
      for (const trade of placed.trades) this.bookTrade(trade, at);
    }
    this.botOrders.set(id, ids);
    this.emitBook(id);
    return { ok: true };
  }

  private bookTrade(trade: Trade, at: Millis): readonly VenueFill[] {
    const { market_id, kind, maker, taker } = trade;
    const trade_id = String(trade.trade_id);
    const fills = [maker, taker]
      .filter(({ account }) => account !== BOTS)
      .map((fill) => this.bookFill(fill, { trade_id, market_id, at }));
    const price = taker.outcome === 0 ? taker.price : ONE_DOLLAR - taker.price;
    const venueTrade: VenueTrade = {
      ...{ trade_id, market_id, kind, price, size: taker.size, at },
      ...{ taker_outcome: taker.outcome, taker_side: taker.side },
    };
    this.records.addTrade(venueTrade);
    this.events.push({ what: 'trade', trade: venueTrade });
    for (const fill of fills) {
      this.events.push({ what: 'fill', fill });
      if (fill.liquidity === 'maker') this.emitOrder(fill.order_id);
    }
    return fills;
  }

  private bookFill(
    fill: ExchangeFill,
    trade: { readonly trade_id: string; readonly market_id: string; readonly at: Millis },
  ): VenueFill {
    const order = this.records.order(fill.order_id);
    const clientId = order?.client_id;
    const booked: VenueFill = {
      ...trade,
      ...(clientId === undefined ? {} : { client_id: clientId }),
      ...fill,
    };
    this.records.addFill(booked, costOf(fill.price, fill.size));
    return booked;
  }

  private recordCancelled(orders: readonly RestingOrder[], cause: CancelReason, at: Millis): void {
    for (const { order_id: id, account } of orders) {
      if (account === BOTS) continue;
      this.records.change(id, { status: 'cancelled', remaining: 0, cause }, at);
      this.emitOrder(id);
    }
  }

  private bookPayments(at: Millis): void {
    for (const { what, ...paid } of this.exchange.takePaid()) {
      if (paid.account === BOTS) continue;
      const movement_id = this.records.nextMovementId(what);
      this.emitMovement({ movement_id, kind: what, at, ...paid });
    }
  }

  private emitOrder(orderId: string): { readonly order?: VenueOrder } {
    const order = this.records.order(orderId);
    if (order === undefined) return {};
    this.events.push({ what: 'order', order });
    return { order };
  }

  private emitMovement(movement: Movement): void {
    this.records.addMovement(movement);
    this.events.push({ what: 'movement', movement });
  }

  private emitBook(market_id: string): void {
    this.events.push({ what: 'book', market_id });
  }
}

function refusal(reason: VenueRefusal): VenueReply {
  return { ok: false, refusal: reason };
}
