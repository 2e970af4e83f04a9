import type { WebSocket } from 'ws';
import { z } from 'zod';
import type { Faults } from '../../faults.js';
import type { VenueEvent } from '../../venue/terms.js';
import type { PracticeVenuePort } from '../../venue/venue-reads.js';
import { count, dollars } from './fixed-point.js';
import { bookRecord, tradeRecord } from './markets.js';
import { fillRecord, ownerOf, sideOf } from './orders.js';
import type { BPortfolio } from './portfolio.js';

const CHANNELS = ['orderbook_delta', 'trade', 'market_lifecycle_v2', 'fill', 'user_orders'] as const;
type Channel = (typeof CHANNELS)[number];
const MOST_WAITING_BYTES = 4 * 1024 * 1024;
const ALL_LEVELS = 1_000;

const command = z.object({
  id: z.number().int().optional(),
  cmd: z.enum(['subscribe', 'unsubscribe', 'list_subscriptions']),
  params: z
    .object({
      channels: z.array(z.string()).max(16).optional(),
      market_ticker: z.string().optional(),
      market_tickers: z.array(z.string()).max(500).optional(),
      sids: z.array(z.number().int()).max(500).optional(),
    })
    .default({}),
});
type Command = z.infer<typeof command>;

interface Subscription {
  readonly channel: Channel;
  /** Empty for all markets. */
  readonly tickers: ReadonlySet<string>;
  seq: number;
}

export interface SocketParts {
  readonly venue: PracticeVenuePort;
  readonly portfolio: BPortfolio;
  readonly faults: Pick<Faults, 'takeDuplicate'>;
}

/** One socket of the protocol, with channels of the market and of the account. */
export class BSocket {
  private readonly subscriptions = new Map<number, Subscription>();
  /** The size of each level that the client has, by subscription and level. */
  private readonly shown = new Map<string, number>();
  private subscribed = 0;

  private constructor(
    private readonly parts: SocketParts,
    private readonly socket: WebSocket,
    private readonly account: string,
  ) {}

  static serve(parts: SocketParts, socket: WebSocket, account: string): void {
    const served = new BSocket(parts, socket, account);
    const unfollow = parts.venue.follow((event) => served.onEvent(event));
    socket.on('close', unfollow);
    socket.on('message', (data) => {
      served.onMessage(Buffer.isBuffer(data) ? data.toString('utf8') : '');
    });
  }

  private onMessage(text: string): void {
    const read = command.safeParse(parsed(text));
    if (!read.success) {
      this.send({ type: 'error', msg: { code: 1, msg: 'Unable to process message' } });
      return;
    }
    const { cmd, id } = read.data;
    if (cmd === 'subscribe') this.subscribe(read.data);
    else if (cmd === 'unsubscribe') this.unsubscribe(read.data);
    else
      this.send({
        ...{ id, type: 'ok' },
        msg: [...this.subscriptions].map(([sid, { channel }]) => ({ channel, sid })),
      });
  }

  private subscribe({ id, params }: Command): void {
    const tickers = new Set(params.market_tickers ?? []);
    if (params.market_ticker !== undefined) tickers.add(params.market_ticker);
    for (const name of params.channels ?? []) {
      const channel = CHANNELS.find((known) => known === name);
      if (channel === undefined) {
        this.send({ id, type: 'error', msg: { code: 8, msg: 'Unknown channel name' } });
        continue;
      }
      if (channel === 'orderbook_delta' && tickers.size === 0) {
        this.send({ id, type: 'error', msg: { code: 11, msg: 'Market tickers required' } });
        continue;
      }
      this.subscribed += 1;
      const sid = this.subscribed;
      this.subscriptions.set(sid, { channel, tickers, seq: 0 });
      this.send({ id, type: 'subscribed', msg: { channel, sid } });
      if (channel === 'orderbook_delta') for (const ticker of tickers) this.sendBook(sid, ticker);
    }
  }

  private unsubscribe({ id, params }: Command): void {
    for (const sid of params.sids ?? []) {
      if (this.subscriptions.delete(sid)) this.send({ id, sid, type: 'unsubscribed' });
      else this.send({ id, type: 'error', msg: { code: 7, msg: 'Unknown subscription ID' } });
    }
  }

  private onEvent(event: VenueEvent): void {
    for (const [sid, { channel, tickers }] of this.subscriptions) {
      const covers = (ticker: string): boolean => tickers.size === 0 || tickers.has(ticker);
      if (event.what === 'fill' && channel === 'fill') {
        if (ownerOf(event.fill.account) === this.account && covers(event.fill.market_id))
          this.sendFill(sid, event);
      } else if (event.what === 'order' && channel === 'user_orders') {
        if (ownerOf(event.order.account) === this.account && covers(event.order.market_id))
          this.sendOrder(sid, event);
      } else if (event.what === 'trade' && channel === 'trade') {
        const { trade } = event;
        if (covers(trade.market_id))
          this.publish(sid, 'trade', {
            market_ticker: trade.market_id,
            ...tradeRecord(trade),
            ts: seconds(trade.at),
          });
      } else if (event.what === 'book' && channel === 'orderbook_delta') {
        if (tickers.has(event.market_id)) this.sendChanges(sid, event.market_id);
      } else if (event.what === 'market' && channel === 'market_lifecycle_v2') {
        this.publish(sid, 'market_lifecycle_v2', {
          market_ticker: event.market_id,
          event_type: LIFECYCLE[event.status],
        });
      }
    }
  }

  private sendFill(sid: number, { fill }: VenueEvent & { readonly what: 'fill' }): void {
    const { portfolio, faults } = this.parts;
    const message = {
      ...fillRecord(fill, portfolio.shardOf(fill.market_id)),
      ...{ post_position_fp: count(portfolio.netPosition(this.account, fill.market_id)), ts_ms: fill.at },
      purchased_side: sideOf(fill) === 'bid' ? 'yes' : 'no',
    };
    this.publish(sid, 'fill', message);
    if (faults.takeDuplicate()) this.publish(sid, 'fill', message);
  }

  private sendOrder(sid: number, { order }: VenueEvent & { readonly what: 'order' }): void {
    this.publish(sid, 'user_order', {
      ...this.parts.portfolio.orderRecord(order),
      ...{ market_ticker: order.market_id, last_updated_ts_ms: order.updated_at },
    });
  }

  private sendBook(sid: number, ticker: string): void {
    const { reads } = this.parts.venue;
    if (reads.market(ticker) === undefined) return;
    for (const [key, size] of this.levelsOf(sid, ticker)) this.shown.set(key, size);
    const { yes_dollars, no_dollars } = bookRecord(ticker, ALL_LEVELS, reads);
    this.publish(sid, 'orderbook_snapshot', {
      ...{ market_ticker: ticker, yes_dollars_fp: yes_dollars, no_dollars_fp: no_dollars },
    });
  }

  private sendChanges(sid: number, ticker: string): void {
    const now = this.levelsOf(sid, ticker);
    const before = levelKey(sid, ticker);
    for (const key of this.shown.keys()) if (key.startsWith(before) && !now.has(key)) now.set(key, 0);
    for (const [key, size] of now) {
      const delta = size - (this.shown.get(key) ?? 0);
      if (delta === 0) continue;
      if (size === 0) this.shown.delete(key);
      else this.shown.set(key, size);
      const [side, price] = key.slice(before.length).split('@');
      this.publish(sid, 'orderbook_delta', {
        ...{ market_ticker: ticker, price_dollars: dollars(Number(price)), side },
        ...{ delta_fp: delta < 0 ? `-${count(-delta)}` : count(delta), ts_ms: this.parts.venue.now() },
      });
    }
  }

  private levelsOf(sid: number, ticker: string): Map<string, number> {
    const levels = new Map<string, number>();
    for (const [outcome, side] of [
      [0, 'yes'],
      [1, 'no'],
    ] as const) {
      for (const { price, size } of this.parts.venue.reads.levels(ticker, outcome, 'buy'))
        levels.set(`${levelKey(sid, ticker)}${side}@${price}`, size);
    }
    return levels;
  }

  private publish(sid: number, type: string, msg: object): void {
    const subscription = this.subscriptions.get(sid);
    if (subscription === undefined) return;
    subscription.seq += 1;
    this.send({ type, sid, seq: subscription.seq, msg });
  }

  /** A client that does not read is disconnected, and must ask for what it missed. */
  private send(message: object): void {
    if (this.socket.bufferedAmount > MOST_WAITING_BYTES) this.socket.terminate();
    else if (this.socket.readyState === this.socket.OPEN) this.socket.send(JSON.stringify(message));
  }
}

const LIFECYCLE = {
  open: 'activated',
  halted: 'deactivated',
  closed: 'closed',
  resolved: 'settled',
} as const;
const MILLIS = 1_000;

function seconds(at: number): number {
  return Math.floor(at / MILLIS);
}

function levelKey(sid: number, ticker: string): string {
  return `${sid} ${ticker} `;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
