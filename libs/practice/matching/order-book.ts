/**
 * The order book of one binary market. One outcome pays a dollar where the other pays nothing, so buying the second
 * at 0.40 is selling the first at 0.60. All orders are kept as orders for the first outcome. Price-time priority, at
 * the maker's price.
 */

/** Millionths of a dollar, 1 to 999,999 in a book. Prices of an outcome are in its own dollars. */
export type PriceMicros = number;
/** Millionths of a share. */
export type SizeMicros = number;
export type OutcomeIndex = 0 | 1;
export type BookSide = 'buy' | 'sell';
/** `rest` orders stay until cancelled. The others drop at once what does not trade. */
export type Lifetime = 'rest' | 'immediate' | 'all-or-nothing';

export const ONE_DOLLAR: PriceMicros = 1_000_000;

export interface NewOrder {
  readonly order_id: string;
  readonly account: string;
  readonly outcome: OutcomeIndex;
  readonly side: BookSide;
  readonly price: PriceMicros;
  readonly size: SizeMicros;
  readonly lifetime: Lifetime;
  readonly post_only?: boolean;
}

export interface RestingOrder extends Omit<NewOrder, 'lifetime' | 'post_only' | 'size'> {
  readonly remaining: SizeMicros;
}

/** A trade hands shares over, creates a pair, or dissolves one. */
export type TradeKind = 'transfer' | 'mint' | 'dissolve';

export interface Match {
  readonly maker: RestingOrder;
  readonly size: SizeMicros;
  /** Price of the first outcome. */
  readonly price: PriceMicros;
  readonly kind: TradeKind;
}

export type Placement =
  | {
      readonly result: 'done';
      readonly matches: readonly Match[];
      readonly rests: SizeMicros;
      readonly dropped: SizeMicros;
    }
  | { readonly result: 'would-cross' }
  | { readonly result: 'not-filled' }
  | { readonly result: 'own-order'; readonly matches: readonly Match[]; readonly dropped: SizeMicros };

export interface Level {
  readonly price: PriceMicros;
  readonly size: SizeMicros;
  readonly orders: number;
}

interface Node {
  readonly order: NewOrder;
  readonly level: Ladder;
  remaining: SizeMicros;
  earlier: Node | undefined;
  later: Node | undefined;
}

/** All orders at one price, the earliest first. */
interface Ladder {
  readonly price: PriceMicros;
  first: Node | undefined;
  last: Node | undefined;
  size: SizeMicros;
  orders: number;
}

/** The price of the first outcome at which an order trades. */
export function firstOutcomePrice(outcome: OutcomeIndex, price: PriceMicros): PriceMicros {
  return outcome === 0 ? price : ONE_DOLLAR - price;
}

/** Whether the order buys the first outcome or sells the second. */
export function isBid({ outcome, side }: Pick<NewOrder, 'outcome' | 'side'>): boolean {
  return (outcome === 0) === (side === 'buy');
}

export class OrderBook {
  /** Prices of the first outcome, the best last. */
  private readonly bids = new HalfBook((a, b) => a < b);
  private readonly asks = new HalfBook((a, b) => a > b);
  private readonly nodes = new Map<string, Node>();

  find(orderId: string): RestingOrder | undefined {
    const node = this.nodes.get(orderId);
    return node === undefined ? undefined : restingOf(node);
  }

  /** All resting orders, in no particular order. */
  *orders(): Generator<RestingOrder> {
    for (const node of this.nodes.values()) yield restingOf(node);
  }

  /** Whether the order would trade at once. */
  wouldCross(order: Pick<NewOrder, 'outcome' | 'side' | 'price'>): boolean {
    const opposite = isBid(order) ? this.asks : this.bids;
    const best = opposite.best;
    return best !== undefined && opposite.reaches(best.price, firstOutcomePrice(order.outcome, order.price));
  }

  place(order: NewOrder): Placement {
    const opposite = isBid(order) ? this.asks : this.bids;
    const limit = firstOutcomePrice(order.outcome, order.price);
    if (order.post_only === true && this.wouldCross(order)) return { result: 'would-cross' };
    if (order.lifetime === 'all-or-nothing' && !this.isFillable(order, opposite, limit))
      return { result: 'not-filled' };
    const { matches, left, hasMetOwn } = this.match(order, opposite, limit);
    if (hasMetOwn) return { result: 'own-order', matches, dropped: left };
    const rests = order.lifetime === 'rest' ? left : 0;
    if (rests > 0) this.rest(order, rests, limit);
    return { result: 'done', matches, rests, dropped: left - rests };
  }

  /** Cancels an order. Returns what was left of it. */
  cancel(orderId: string): RestingOrder | undefined {
    const node = this.nodes.get(orderId);
    if (node === undefined) return undefined;
    const order = restingOf(node);
    this.remove(node);
    return order;
  }

  /** Makes an order smaller without losing its priority. */
  reduce(orderId: string, remaining: SizeMicros): boolean {
    const node = this.nodes.get(orderId);
    if (node === undefined || remaining <= 0 || remaining > node.remaining) return false;
    node.level.size -= node.remaining - remaining;
    node.remaining = remaining;
    return true;
  }

  /** The levels of one outcome in its own dollars, the best first: from orders of both outcomes, or only its own. */
  levels(outcome: OutcomeIndex, side: BookSide, of: 'market' | 'outcome' = 'market'): Level[] {
    const half = isBid({ outcome, side }) ? this.bids : this.asks;
    const levels: Level[] = [];
    for (const ladder of half.bestFirst()) {
      const [size, orders] = of === 'market' ? [ladder.size, ladder.orders] : sumOf(ladder, outcome);
      if (orders > 0) levels.push({ price: firstOutcomePrice(outcome, ladder.price), size, orders });
    }
    return levels;
  }

  /** Whether the whole order would trade at once. An order of the same account ends the match. */
  private isFillable(order: NewOrder, opposite: HalfBook, limit: PriceMicros): boolean {
    let found = 0;
    for (const ladder of opposite.bestFirst()) {
      if (!opposite.reaches(ladder.price, limit)) break;
      for (let node = ladder.first; node !== undefined; node = node.later) {
        if (node.order.account === order.account) return found >= order.size;
        found += node.remaining;
        if (found >= order.size) return true;
      }
    }
    return found >= order.size;
  }

  private match(
    order: NewOrder,
    opposite: HalfBook,
    limit: PriceMicros,
  ): { readonly matches: Match[]; readonly left: SizeMicros; readonly hasMetOwn: boolean } {
    const matches: Match[] = [];
    let left = order.size;
    while (left > 0) {
      const ladder = opposite.best;
      const node = ladder?.first;
      if (ladder === undefined || node === undefined || !opposite.reaches(ladder.price, limit)) break;
      if (node.order.account === order.account) return { matches, left, hasMetOwn: true };
      const size = Math.min(left, node.remaining);
      left -= size;
      node.remaining -= size;
      ladder.size -= size;
      matches.push({ maker: restingOf(node), size, price: ladder.price, kind: kindOf(order, node.order) });
      if (node.remaining === 0) this.remove(node);
    }
    return { matches, left, hasMetOwn: false };
  }

  private rest(order: NewOrder, remaining: SizeMicros, price: PriceMicros): void {
    const level = (isBid(order) ? this.bids : this.asks).at(price);
    const node: Node = { order, level, remaining, earlier: level.last, later: undefined };
    if (level.last === undefined) level.first = node;
    else level.last.later = node;
    level.last = node;
    level.size += remaining;
    level.orders += 1;
    this.nodes.set(order.order_id, node);
  }

  private remove(node: Node): void {
    const { level, earlier, later, order } = node;
    if (earlier === undefined) level.first = later;
    else earlier.later = later;
    if (later === undefined) level.last = earlier;
    else later.earlier = earlier;
    level.size -= node.remaining;
    level.orders -= 1;
    this.nodes.delete(order.order_id);
    if (level.orders === 0) (isBid(order) ? this.bids : this.asks).drop(level.price);
  }
}

/** The levels of one direction, sorted with the best last, because trades remove levels from there. */
class HalfBook {
  private readonly sorted: Ladder[] = [];
  private readonly byPrice = new Map<PriceMicros, Ladder>();

  /** `isWorse(a, b)`: whether price `a` is farther from the market than `b`. */
  constructor(private readonly isWorse: (a: PriceMicros, b: PriceMicros) => boolean) {}

  get best(): Ladder | undefined {
    return this.sorted.at(-1);
  }

  /** Whether this level trades with an opposite order at this limit. */
  reaches(level: PriceMicros, limit: PriceMicros): boolean {
    return level === limit || this.isWorse(limit, level);
  }

  at(price: PriceMicros): Ladder {
    const known = this.byPrice.get(price);
    if (known !== undefined) return known;
    const made: Ladder = { price, first: undefined, last: undefined, size: 0, orders: 0 };
    this.sorted.splice(this.indexOf(price), 0, made);
    this.byPrice.set(price, made);
    return made;
  }

  drop(price: PriceMicros): void {
    if (this.best?.price === price) this.sorted.pop();
    else this.sorted.splice(this.indexOf(price), 1);
    this.byPrice.delete(price);
  }

  *bestFirst(): Generator<Ladder> {
    for (let index = this.sorted.length - 1; index >= 0; index -= 1) {
      const ladder = this.sorted[index];
      if (ladder !== undefined) yield ladder;
    }
  }

  /** The index of the price, or where it would be inserted. */
  private indexOf(price: PriceMicros): number {
    let [low, high] = [0, this.sorted.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      const there = this.sorted[middle];
      if (there !== undefined && this.isWorse(there.price, price)) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

function restingOf({ order, remaining }: Node): RestingOrder {
  const { order_id, account, outcome, side, price } = order;
  return { order_id, account, outcome, side, price, remaining };
}

/** Two buyers of different outcomes create a pair, two sellers dissolve one. Within an outcome shares change hands. */
function kindOf(taker: NewOrder, maker: NewOrder): TradeKind {
  if (taker.outcome === maker.outcome) return 'transfer';
  return taker.side === 'buy' ? 'mint' : 'dissolve';
}

function sumOf(ladder: Ladder, outcome: OutcomeIndex): [SizeMicros, number] {
  let [size, orders] = [0, 0];
  for (let node = ladder.first; node !== undefined; node = node.later) {
    if (node.order.outcome !== outcome) continue;
    size += node.remaining;
    orders += 1;
  }
  return [size, orders];
}
