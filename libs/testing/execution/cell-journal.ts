import { createHash } from 'node:crypto';
import { instantFromNanos, NANOS_PER_MICRO, type Instant } from '#libs/base/instant.js';
import { encodeCellEvent } from '#libs/execution/protocol/event-codec.js';
import type { CellEvent, OrderEvent } from '#libs/execution/rules/events.js';
import { evolveOrder, remainingOf } from '#libs/execution/rules/evolve.js';
import { isTerminal, type OrderState, type OrderTerms, type VenueCall } from '#libs/execution/rules/order.js';
import { tokenOf } from '#libs/execution/rules/holdings.js';
import type { VenueId } from '#libs/execution/rules/venues.js';
import { fillId } from '#libs/execution/venues/fill-id.js';
import { beforeFirst, linkEpoch, linkEvent } from '#libs/journal/hash-chain.js';
import type { JournalEntry, JournalReader } from '#libs/journal/journal.js';

const BEGIN = 1_795_000_000_000_000_000n;
const ONE = 1_000_000n;

/** The same name always gives the same id, in the form of order ids. */
export function orderUuid(name: string, cell = 0, venue: VenueId = 'venue_b'): string {
  const hex = createHash('sha256').update(name).digest('hex');
  const head = `${cell.toString(16)}${venue.slice(-1)}${hex.slice(2, 8)}`;
  return `${head}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

export function momentOf(step: number): Instant {
  return instantFromNanos(BEGIN + BigInt(step) * 371n * NANOS_PER_MICRO);
}

export function termsOf(terms: Partial<OrderTerms> & Pick<OrderTerms, 'order_id' | 'user_id'>): OrderTerms {
  const price = terms.price ?? 400_000n;
  const quantity = terms.quantity ?? 10n * ONE;
  return {
    ...{ origin: 'sotto', venue: 'venue_b', market_id: 'RAIN', outcome: 'Yes', outcome_index: 0 },
    ...{ side: 'buy', kind: 'limit', time_in_force: 'GTC', post_only: false },
    ...{ quantity, price, requested: { quantity, price }, bound: price, max_retries: 0 },
    ...{ collateral: 'skip', shard_funding: true, source: 'api', channel: 'REST', content: 'c' },
    market: { tick_size: 10_000n, min_size: ONE, shard: 0, closes_at: momentOf(1_000_000_000) },
    client_order_id: `client-${terms.order_id.slice(-8)}`,
    ...terms,
  };
}

/** The journal of one cell, in memory and without a store. */
export class WrittenCellJournal implements JournalReader {
  readonly records: JournalEntry[];
  readonly events: CellEvent[] = [];

  constructor(readonly cell: number) {
    this.records = [linkEpoch(cell, beforeFirst('execution'), 1, 'test')];
  }

  write(...events: readonly CellEvent[]): void {
    for (const event of events) {
      const before = this.records.at(-1) ?? beforeFirst('execution');
      this.records.push(linkEvent(this.cell, before, encodeCellEvent(event)));
      this.events.push(event);
    }
  }

  read(cell: number, from: number, limit: number): Promise<JournalEntry[]> {
    return Promise.resolve(cell === this.cell ? this.records.slice(from - 1, from - 1 + limit) : []);
  }

  entries(_: number, sequences: readonly number[]): Promise<JournalEntry[]> {
    return Promise.resolve(sequences.flatMap((sequence) => this.records[sequence - 1] ?? []));
  }

  heads(): Promise<Map<number, number>> {
    return Promise.resolve(new Map([[this.cell, this.records.length]]));
  }
}

/** A random generator: the same seed gives the same numbers. */
export function dice(seed: number): (sides: number) => number {
  let state = (seed * 2_654_435_761 + 1) % 2 ** 32;
  return (sides) => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32;
    return Math.floor((state / 2 ** 32) * sides);
  };
}

const MARKETS = ['RAIN', 'SNOW', 'WIND'];
const OUTCOMES = ['Yes', 'No'];

/** Random actions of a few users of a cell at both venues: orders of all outcomes, payments, transfers, differences. */
export class RandomCell {
  readonly journal: WrittenCellJournal;
  readonly users: readonly string[];
  private readonly roll: (sides: number) => number;
  private readonly orders = new Map<string, OrderState>();
  private readonly live: string[] = [];
  private readonly held = new Map<string, bigint>();
  private step = 0;

  constructor(seed: number, steps: number, cell = 0) {
    this.journal = new WrittenCellJournal(cell);
    this.roll = dice(seed);
    this.users = ['ada', 'ben', 'eve'].map((name) => orderUuid(`${name} ${seed}`, cell));
    for (const user_id of this.users) {
      this.tell({ type: 'VENUE_LINKED', at: this.now(), user_id, venue: 'venue_b', account: `b-${user_id}` });
      this.tell({ type: 'VENUE_LINKED', at: this.now(), user_id, venue: 'venue_e', account: `0x${user_id}` });
      this.deposit(user_id);
    }
    for (let turn = 0; turn < steps; turn += 1) this.turn();
  }

  get states(): readonly OrderState[] {
    return [...this.orders.values()];
  }

  private now(): Instant {
    this.step += 1 + this.roll(3);
    return momentOf(this.step);
  }

  private tell(event: CellEvent): void {
    this.journal.write(event);
  }

  private turn(): void {
    const user = this.pick(this.users);
    const what = this.roll(20);
    if (what < 4) this.submit(user);
    else if (what < 16) this.goOn();
    else if (what === 16) this.deposit(user);
    else if (what === 17) this.payPair(user);
    else if (what === 18) this.transfer(user);
    else this.differ(user);
  }

  private pick<T>(from: readonly T[]): T {
    const picked = from[this.roll(from.length)];
    if (picked === undefined) throw new Error('there is nothing to pick from');
    return picked;
  }

  private submit(user_id: string): void {
    const venue = this.pick(['venue_b', 'venue_e'] as const);
    const outcome_index = this.roll(2);
    const market_id = venue === 'venue_b' ? this.pick(MARKETS) : String(1 + this.roll(3));
    const outcome = OUTCOMES[outcome_index] ?? 'Yes';
    const token = venue === 'venue_b' ? {} : { token_id: `#${market_id}${outcome_index}` };
    const name = { market_id, outcome, ...token };
    const free = this.held.get(`${user_id}/${tokenOf(name)}`) ?? 0n;
    const isSale = free >= ONE && this.roll(2) === 0;
    const quantity = isSale
      ? free / 2n + 1n
      : BigInt(1 + this.roll(20)) * ONE + BigInt(this.roll(2)) * 500_000n;
    const price = BigInt(1 + this.roll(98)) * 10_000n;
    const terms = termsOf({
      ...{ order_id: orderUuid(`order ${this.step} ${user_id}`, this.journal.cell, venue), user_id, venue },
      ...{ ...name, outcome_index, side: isSale ? 'sell' : 'buy', quantity, price },
      ...{ source: this.pick(['api', 'bot', 'manual'] as const), bot_id: `bot-${this.roll(2)}` },
    });
    this.apply(this.firstOf(terms));
    this.live.push(terms.order_id);
  }

  /** The first event of an order, which sometimes was placed outside the platform. */
  private firstOf(terms: OrderTerms): OrderEvent {
    const { user_id, order_id } = terms;
    const base = { at: this.now(), user_id, order_id };
    if (this.roll(8) > 0) return { ...base, type: 'ORDER_ACCEPTED', terms };
    const { client_order_id, ...found } = terms;
    const external = {
      ...found,
      origin: 'external',
      channel: 'EXTERNAL',
      content: client_order_id ?? '',
    } as const;
    return { ...base, type: 'EXTERNAL_ORDER_FOUND', terms: external, exchange_order_id: `x-${order_id}` };
  }

  private apply(event: OrderEvent): void {
    const before = this.orders.get(event.order_id);
    const after = evolveOrder(before, event);
    this.orders.set(event.order_id, after);
    this.tell(event);
    const { terms } = after;
    const key = `${terms.user_id}/${tokenOf(terms)}`;
    const change =
      terms.side === 'buy' ? after.filled - (before?.filled ?? 0n) : reservedIn(before) - reservedIn(after);
    const sold = terms.side === 'sell' ? after.filled - (before?.filled ?? 0n) : 0n;
    this.held.set(key, (this.held.get(key) ?? 0n) + change - sold);
  }

  /** One more event of an order that is live or, sometimes, already ended. */
  private goOn(): void {
    const id = this.live[this.live.length - 1 - this.roll(Math.min(6, this.live.length))];
    const order = id === undefined ? undefined : this.orders.get(id);
    if (order === undefined) return;
    const { order_id, user_id } = order.terms;
    const base = { at: this.now(), user_id, order_id };
    if (order.status === 'queued') {
      const sent = { quantity: order.terms.quantity, price: order.price };
      this.apply({
        ...base,
        type: 'SUBMISSION_STARTED',
        attempt: order.attempts + 1,
        venue_client_id: order_id,
        sent,
      });
      return;
    }
    if (isTerminal(order)) {
      if (this.roll(4) === 0) this.fill(order);
      return;
    }
    this.goOnLive(order, base);
  }

  private goOnLive(order: OrderState, base: { at: Instant; user_id: string; order_id: string }): void {
    const call = this.call();
    switch (this.roll(14)) {
      case 0: {
        this.apply({ ...base, type: 'SUBMISSION_DOUBTED', reason: 'time-out', call });
        return;
      }
      case 1: {
        this.apply({ ...base, type: 'CALL_RECORDED', call });
        return;
      }
      case 2: {
        this.apply({ ...base, type: 'CANCEL_REQUESTED', cause: 'USER' });
        return;
      }
      case 3: {
        this.apply({ ...base, type: 'CANCEL_REFUSED', message: 'too late', call });
        return;
      }
      case 4: {
        this.apply({
          ...base,
          type: 'ORDER_ENDED',
          status: 'cancelled',
          terminal_reason: 'USER',
          call,
        });
        return;
      }
      case 5: {
        const failure = { code: 'VENUE_REJECTED', message: 'no' };
        this.apply({
          ...base,
          type: 'ORDER_ENDED',
          status: 'failed',
          terminal_reason: 'FAILED',
          failure,
          call,
        });
        return;
      }
      case 6: {
        this.apply({ ...base, type: 'ORDER_PLACED', exchange_order_id: `x-${base.order_id}`, call });
        return;
      }
      default: {
        this.fill(order);
        return;
      }
    }
  }

  private call(): VenueCall {
    const raw = { status: 'ok', n: this.roll(100) };
    return {
      operation: 'submit',
      request_sha256: 'ab'.repeat(32),
      sent_at: this.now(),
      http_status: 200,
      raw,
    };
  }

  /** A fill, sometimes one that was reported before. */
  private fill(order: OrderState): void {
    const { order_id, user_id, venue } = order.terms;
    const exchange_order_id = `x-${order_id}`;
    const left = remainingOf(order);
    const isRepeated = order.fill_ids.length > 0 && this.roll(3) === 0;
    if (left === 0n && !isRepeated) return;
    const number = isRepeated ? order.fill_ids.length - 1 : order.fill_ids.length;
    const venue_trade_id = `t-${order_id}-${number}`;
    const fill = {
      ...{
        fill_id: fillId(venue, { venue_trade_id, exchange_order_id }),
        venue_trade_id,
        price: order.price,
      },
      quantity: left > ONE && this.roll(2) === 0 ? left / 2n : left,
      fee: venue === 'venue_b' ? BigInt(1 + this.roll(3)) * 10_000n : 0n,
      ...({ is_fee_told: true, liquidity: 'taker', occurred_at: this.now() } as const),
    };
    this.apply({ type: 'ORDER_FILLED', at: this.now(), user_id, order_id, fill, exchange_order_id });
  }

  private deposit(user_id: string): void {
    const venue = this.pick(['venue_b', 'venue_e'] as const);
    const entry_id = orderUuid(`deposit ${this.step} ${user_id}`);
    const place = venue === 'venue_b' ? { asset: 'USD', shard: this.roll(2) } : { asset: 'USDC' };
    const movement = this.pick(['DEPOSIT', 'EXTERNAL_TRANSFER', 'WITHDRAWAL'] as const);
    const size = BigInt(1 + this.roll(900)) * ONE;
    const amount = movement === 'DEPOSIT' ? size * 10n : -size;
    const at = this.now();
    this.tell({
      type: 'BALANCE_MOVED',
      at,
      user_id,
      venue,
      movement,
      entry_id,
      ...place,
      amount,
      occurred_at: at,
    });
  }

  private payPair(user_id: string): void {
    const market_id = this.pick(MARKETS);
    const free = OUTCOMES.map((outcome) => this.held.get(`${user_id}/${market_id}:${outcome}`) ?? 0n);
    const quantity = free.reduce((least, each) => (each < least ? each : least));
    if (quantity <= 0n) return;
    for (const outcome of OUTCOMES) {
      const key = `${user_id}/${market_id}:${outcome}`;
      this.held.set(key, (this.held.get(key) ?? 0n) - quantity);
    }
    const reference = `pair-${this.step}`;
    this.tell({
      type: 'PAIRS_PAID',
      at: this.now(),
      user_id,
      venue: 'venue_b',
      market_id,
      shard: 0,
      quantity,
      reference,
    });
  }

  private transfer(user_id: string): void {
    const transfer_id = orderUuid(`transfer ${this.step} ${user_id}`);
    const amount = BigInt(1 + this.roll(50)) * ONE;
    const base = { user_id, venue: 'venue_e' } as const;
    const terms = {
      ...({ transfer_id, venue: 'venue_e', asset: 'USDC', amount, direction: 'to_vault' } as const),
      ...{ client_request_id: `r-${this.step}`, content: 'c' },
    };
    this.tell({ ...base, type: 'TRANSFER_HELD', at: this.now(), terms });
    if (this.roll(3) === 0) return;
    this.tell({
      ...base,
      type: 'TRANSFER_SENT',
      at: this.now(),
      transfer_id,
      reference: `ref-${transfer_id}`,
    });
    if (this.roll(3) === 0) {
      const failure = { code: 'VENUE_REJECTED' };
      this.tell({ ...base, type: 'TRANSFER_FAILED', at: this.now(), transfer_id, failure });
    } else {
      const reference = `ref-${transfer_id}`;
      this.tell({ ...base, type: 'TRANSFER_COMPLETED', at: this.now(), transfer_id, reference });
    }
  }

  private differ(user_id: string): void {
    const base = { at: this.now(), user_id, venue: 'venue_e', asset: 'USDC' } as const;
    if (this.roll(2) === 0) this.tell({ ...base, type: 'DIFFERENCE_FOUND', recorded: 5n, observed: 7n });
    else this.tell({ ...base, type: 'DIFFERENCE_ENDED' });
  }
}

/** The quantity that an open sell order reserves. */
function reservedIn(order: OrderState | undefined): bigint {
  return order === undefined || isTerminal(order) || order.terms.side === 'buy' ? 0n : remainingOf(order);
}
