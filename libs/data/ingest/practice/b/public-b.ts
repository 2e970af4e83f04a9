import type { z } from 'zod';
import { NANOS_PER_MICRO } from '#libs/base/instant.js';
import type { Clock } from '#libs/platform/time/clock.js';
import type { TradeEvent } from '../../../rules/events.js';
import { MICROS_PER_SECOND } from '../../../rules/times.js';
import type { SeenBook, SeenMarket, SocketAddress, SpanOfTrades, VenueProtocol } from '../protocol.js';
import { isQuarantined, mapped, readBody, type BodyReading } from '../reading.js';
import type { PublicReads } from '../public-reads.js';
import { bookOf, ConnectionOfB } from './connection.js';
import { signedHeaders, type FeedKey } from './feed-key.js';
import { seenMarket } from './markets.js';
import { bookPage, marketPage, tradePage } from './shapes.js';
import { tradeEvent } from './trades.js';

export interface PublicBPorts {
  readonly reads: PublicReads;
  readonly clock: Clock;
  /** Includes `/trade-api/v2`. */
  readonly url: string;
  /** The key for the socket. Without it, only the lists are read. */
  readonly key?: () => Promise<FeedKey>;
}

const PAGE = 1_000;
/** Ends the read of a venue whose pages never end. */
const MOST_PAGES = 10_000;
const SOCKET_PATH = '/trade-api/ws/v2';

export class PublicVenueB implements VenueProtocol {
  readonly provider = 'venue_b';
  readonly booksAtOnce = 100;
  private key: FeedKey | undefined;
  /** Whether the connection opened since the key was last used. If not, the next attempt gets a new key. */
  private hasOpened = false;

  constructor(private readonly ports: PublicBPorts) {}

  markets(_which: 'all' | 'recent', stop: AbortSignal): AsyncIterable<BodyReading<readonly SeenMarket[]>> {
    return this.pages(
      'markets',
      { shape: marketPage, query: {}, map: ({ markets }) => markets.map(seenMarket) },
      stop,
    );
  }

  /** Newest first. The venue filters by whole seconds, so the last second is requested in full. */
  trades({ from, to }: SpanOfTrades, stop: AbortSignal): AsyncIterable<BodyReading<readonly TradeEvent[]>> {
    const query = {
      min_ts: secondOf(from),
      ...(to === undefined ? {} : { max_ts: secondOf(to) }),
    };
    const map = ({ trades }: z.infer<typeof tradePage>): TradeEvent[] => {
      const now = this.now();
      return trades.map((trade) => tradeEvent(trade, now));
    };
    return this.pages('markets/trades', { shape: tradePage, query, map }, stop);
  }

  async books(tickers: readonly string[], stop: AbortSignal): Promise<BodyReading<readonly SeenBook[]>> {
    const url = this.address('markets/orderbooks');
    for (const ticker of tickers) url.searchParams.append('tickers', ticker);
    const body = await this.ports.reads.good({ url }, stop);
    return mapped('books', readBody('books', body, bookPage), ({ orderbooks }) =>
      orderbooks.map(({ ticker, orderbook_fp: book }) => bookOf(ticker, book)),
    );
  }

  async socketAddress(): Promise<SocketAddress | undefined> {
    if (this.ports.key === undefined) return undefined;
    if (this.key === undefined || !this.hasOpened) this.key = await this.ports.key();
    this.hasOpened = false;
    const url = new URL(SOCKET_PATH, this.ports.url);
    url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
    return { url: url.href, headers: signedHeaders(this.key, SOCKET_PATH, this.ports.clock) };
  }

  connection(): ConnectionOfB {
    this.hasOpened = true;
    return new ConnectionOfB();
  }

  private async *pages<Page extends { readonly cursor: string }, T>(
    path: string,
    {
      shape,
      query,
      map,
    }: {
      readonly shape: z.ZodType<Page>;
      readonly query: Readonly<Record<string, string>>;
      readonly map: (page: Page) => readonly T[];
    },
    stop: AbortSignal,
  ): AsyncGenerator<BodyReading<readonly T[]>, void> {
    let cursor = '';
    for (let page = 0; page < MOST_PAGES && !stop.aborted; page += 1) {
      const url = this.address(path);
      const parameters = { ...query, limit: String(PAGE), ...(cursor === '' ? {} : { cursor }) };
      for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
      const read = readBody(path, await this.ports.reads.good({ url }, stop), shape);
      yield mapped(path, read, map);
      if (isQuarantined(read) || read.value.cursor === '') return;
      cursor = read.value.cursor;
    }
  }

  private address(path: string): URL {
    return new URL(`${this.ports.url.replace(/\/+$/, '')}/${path}`);
  }

  private now(): number {
    return Number(this.ports.clock.epochNanos() / NANOS_PER_MICRO);
  }
}

function secondOf(micros: number): string {
  return String(Math.floor(micros / MICROS_PER_SECOND));
}
