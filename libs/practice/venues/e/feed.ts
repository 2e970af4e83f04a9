import type { RawData, WebSocket } from 'ws';
import { z } from 'zod';
import type { MarketStatus } from '../../matching/exchange.js';
import type { VenueEvent } from '../../venue/terms.js';
import type { PracticeVenuePort } from '../../venue/venue-reads.js';
import { bookOf, coinOfSide, outcomeRecord, sideOfCoin } from './markets.js';
import { tradeRecord } from './records.js';

const SUBSCRIPTION = z.discriminatedUnion('type', [
  z.object({ type: z.enum(['l2Book', 'trades']), coin: z.string().max(80) }),
  z.object({ type: z.literal('outcomeMetaUpdates') }),
]);
const MESSAGE = z.discriminatedUnion('method', [
  z.object({ method: z.literal('ping') }),
  z.object({ method: z.enum(['subscribe', 'unsubscribe']), subscription: SUBSCRIPTION }),
]);
const MOST_SUBSCRIPTIONS = 1_000;

type Subscription = z.infer<typeof SUBSCRIPTION>;

/** Books and trades of one socket. The venue does not send accounts their own orders here. */
export class EFeed {
  private readonly subscriptions = new Map<string, Subscription>();
  /** An outcome is announced as created once, even if its market opens again. */
  private readonly listed = new Set<string>();

  constructor(
    private readonly socket: WebSocket,
    private readonly venue: PracticeVenuePort,
  ) {
    for (const { terms } of venue.reads.markets()) this.listed.add(terms.market_id);
    const leave = venue.follow((event) => {
      this.onEvent(event);
    });
    socket.on('close', leave);
    socket.on('message', (data) => {
      this.onMessage(textOf(data));
    });
  }

  private onMessage(text: string): void {
    const message = messageIn(text);
    if (message === undefined) {
      this.send('error', `Invalid subscription: ${text.slice(0, 200)}`);
      return;
    }
    if (message.method === 'ping') {
      this.socket.send('{"channel":"pong"}');
      return;
    }
    const { method, subscription } = message;
    const key = keyOf(subscription);
    if (method === 'unsubscribe') this.subscriptions.delete(key);
    else if (this.subscriptions.size >= MOST_SUBSCRIPTIONS) {
      this.send('error', 'Too many subscriptions');
      return;
    } else this.subscriptions.set(key, subscription);
    this.send('subscriptionResponse', { method, subscription });
    if (method === 'subscribe' && subscription.type === 'l2Book') this.sendBook(subscription.coin);
  }

  private onEvent(event: VenueEvent): void {
    if (event.what === 'book') {
      for (const wanted of this.subscriptions.values()) {
        if (wanted.type === 'l2Book' && sideOfCoin(wanted.coin)?.market_id === event.market_id)
          this.sendBook(wanted.coin);
      }
    } else if (event.what === 'trade') {
      const { market_id, taker_outcome: outcome } = event.trade;
      if (this.subscriptions.has(`trades/${coinOfSide({ market_id, outcome })}`)) {
        this.send('trades', [tradeRecord(event.trade)]);
      }
    } else if (event.what === 'market') this.sendMarket(event.market_id, event.status);
  }

  private sendMarket(id: string, status: MarketStatus): void {
    const isCreated = !this.listed.has(id);
    this.listed.add(id);
    const market = this.venue.reads.market(id);
    if (market === undefined || !this.subscriptions.has('outcomeMetaUpdates')) return;
    if (isCreated) this.send('outcomeMetaUpdates', { updates: [{ outcomeCreated: outcomeRecord(market) }] });
    else if (status === 'resolved')
      this.send('outcomeMetaUpdates', { updates: [{ outcomeSettled: { outcome: Number(id) } }] });
  }

  private sendBook(coin: string): void {
    const side = sideOfCoin(coin);
    if (side !== undefined) this.send('l2Book', bookOf(side, this.venue.reads, this.venue.now()));
  }

  private send(channel: string, data: unknown): void {
    this.socket.send(JSON.stringify({ channel, data }));
  }
}

function keyOf(subscription: Subscription): string {
  return 'coin' in subscription ? `${subscription.type}/${subscription.coin}` : subscription.type;
}

function textOf(data: RawData): string {
  const parts = Array.isArray(data) ? data : [Buffer.isBuffer(data) ? data : Buffer.from(data)];
  return Buffer.concat(parts).toString('utf8');
}

function messageIn(text: string): z.infer<typeof MESSAGE> | undefined {
  try {
    const read = MESSAGE.safeParse(JSON.parse(text));
    return read.success ? read.data : undefined;
  } catch {
    return undefined;
  }
}
