import type { Cash } from '../matching/accounts.js';
import type { Millis, Movement, VenueFill, VenueOrder, VenueTrade } from './terms.js';

/** A venue's records of orders, fills, movements and trades. */
export class VenueRecords {
  private readonly orders = new Map<string, VenueOrder>();
  private readonly byClientId = new Map<string, string>();
  private readonly byAccount = new ListsBy<string>();
  private readonly byMarket = new ListsBy<string>();
  private readonly resting = new Set<string>();
  private readonly fills = new ListsBy<VenueFill>();
  private readonly movements = new ListsBy<Movement>();
  private readonly tradesBy = new ListsBy<VenueTrade>();
  private readonly allTrades: VenueTrade[] = [];
  private paid = 0;

  order(orderId: string): VenueOrder | undefined {
    return this.orders.get(orderId);
  }

  orderByClientId(account: string, clientId: string): VenueOrder | undefined {
    const id = this.byClientId.get(nameOf(account, clientId));
    return id === undefined ? undefined : this.orders.get(id);
  }

  ordersOf(account: string): readonly VenueOrder[] {
    return this.known(this.byAccount.of(account));
  }

  ordersIn(marketId: string): readonly VenueOrder[] {
    return this.known(this.byMarket.of(marketId));
  }

  fillsOf(account: string): readonly VenueFill[] {
    return this.fills.of(account);
  }

  movementsOf(account: string): readonly Movement[] {
    return this.movements.of(account);
  }

  trades(marketId: string): readonly VenueTrade[] {
    return this.tradesBy.of(marketId);
  }

  tradesOfAll(): readonly VenueTrade[] {
    return this.allTrades;
  }

  *expiring(): Generator<VenueOrder> {
    for (const id of [...this.resting]) {
      const order = this.orders.get(id);
      if (order?.status === 'resting') yield order;
      else this.resting.delete(id);
    }
  }

  add(order: VenueOrder): void {
    const { order_id: id, account, market_id: marketId, client_id: clientId } = order;
    this.orders.set(id, order);
    this.byAccount.add(account, id);
    this.byMarket.add(marketId, id);
    if (clientId !== undefined) this.byClientId.set(nameOf(account, clientId), id);
    if (order.expires_at !== undefined) this.resting.add(id);
  }

  change(orderId: string, changes: Partial<VenueOrder>, at: Millis): void {
    const order = this.orders.get(orderId);
    if (order === undefined) return;
    this.orders.set(orderId, { ...order, ...changes, updated_at: at });
    if (changes.client_id !== undefined)
      this.byClientId.set(nameOf(order.account, changes.client_id), orderId);
  }

  addFill(fill: VenueFill, cost: Cash): void {
    this.fills.add(fill.account, fill);
    const order = this.orders.get(fill.order_id);
    if (order === undefined) return;
    const { liquidity, size, fee } = fill;
    const remaining = order.remaining - size;
    this.orders.set(fill.order_id, {
      ...order,
      filled: order.filled + size,
      remaining,
      status: remaining === 0 ? 'executed' : order.status,
      cost: { ...order.cost, [liquidity]: order.cost[liquidity] + cost },
      fees: { ...order.fees, [liquidity]: order.fees[liquidity] + fee },
      updated_at: fill.at,
    });
  }

  addMovement(movement: Movement): void {
    this.movements.add(movement.account, movement);
  }

  addTrade(trade: VenueTrade): void {
    this.tradesBy.add(trade.market_id, trade);
    this.allTrades.push(trade);
  }

  nextMovementId(what: string): string {
    this.paid += 1;
    return `${what}-${this.paid}`;
  }

  private known(ids: readonly string[]): VenueOrder[] {
    return ids.flatMap((id) => this.orders.get(id) ?? []);
  }
}

function nameOf(account: string, clientId: string): string {
  return `${account}\u0000${clientId}`;
}

class ListsBy<T> {
  private readonly lists = new Map<string, T[]>();

  of(key: string): readonly T[] {
    return this.lists.get(key) ?? [];
  }

  add(key: string, item: T): void {
    const list = this.lists.get(key);
    if (list === undefined) this.lists.set(key, [item]);
    else list.push(item);
  }
}
