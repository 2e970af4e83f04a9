import type { z } from 'zod';
import { NANOS_PER_MICRO } from '#libs/base/instant.js';
import type { Clock } from '#libs/platform/time/clock.js';
import type { TradeEvent } from '../../../rules/events.js';
import type { SeenBook, SeenMarket, SocketAddress, SpanOfTrades, VenueProtocol } from '../protocol.js';
import { isQuarantined, mapped, readBody, type BodyReading } from '../reading.js';
import type { PublicReads } from '../public-reads.js';
import { bookOf, ConnectionOfE, tradeEvent } from './connection.js';
import { seenMarket, settledMarket, tokenOf } from './markets.js';
import { oneBook, outcomeMeta, settledList, tradeList } from './shapes.js';

export interface PublicEPorts {
  readonly reads: PublicReads;
  readonly clock: Clock;
  readonly url: string;
}

/** The length of a full page. The next page begins at its last time, so trades at that time come twice. */
const PAGE = 2_000;
const MICROS_PER_MILLI = 1_000;
/** Settled outcomes may appear late. */
const OVERLAP_MILLIS = 60_000;

export class PublicVenueE implements VenueProtocol {
  readonly provider = 'venue_e';
  readonly booksAtOnce = 4;
  readonly ping = '{"method":"ping"}';
  /** In milliseconds. Outcomes settled after this time may not be known yet. */
  private settledUntil = 0;

  constructor(private readonly ports: PublicEPorts) {}

  /** The venue lists outcomes that are not settled; settled ones must be requested by time. */
  async *markets(
    which: 'all' | 'recent',
    stop: AbortSignal,
  ): AsyncGenerator<BodyReading<readonly SeenMarket[]>, void> {
    const open = await this.read('outcomeMeta', { type: 'outcomeMeta' }, outcomeMeta, stop);
    yield mapped('outcomeMeta', open, ({ outcomes }) => outcomes.map(seenMarket));
    if (isQuarantined(open)) return;
    const [what, began] = ['settledOutcomesByTime', this.millis()];
    const startTime = which === 'all' ? 0 : Math.max(0, this.settledUntil - OVERLAP_MILLIS);
    const settled = await this.read(what, { type: what, startTime }, settledList, stop);
    const markets = mapped(what, settled, (list) => list.map(settledMarket));
    if (!isQuarantined(markets)) this.settledUntil = began;
    yield markets;
  }

  async *trades(
    { from, to }: SpanOfTrades,
    stop: AbortSignal,
  ): AsyncGenerator<BodyReading<readonly TradeEvent[]>, void> {
    const what = 'tradesByTime';
    let startTime = Math.floor(from / MICROS_PER_MILLI);
    const end = to === undefined ? {} : { endTime: Math.ceil(to / MICROS_PER_MILLI) };
    while (!stop.aborted) {
      const read = await this.read(what, { type: what, startTime, ...end }, tradeList, stop);
      const now = this.millis() * MICROS_PER_MILLI;
      yield mapped(what, read, (trades) => trades.map((trade) => tradeEvent(trade, now)));
      if (isQuarantined(read) || read.value.length < PAGE) return;
      const last = Math.floor((read.value.at(-1)?.time ?? 0) / MICROS_PER_MILLI);
      startTime = Math.max(last, startTime + 1);
    }
  }

  async books(marketIds: readonly string[], stop: AbortSignal): Promise<BodyReading<readonly SeenBook[]>> {
    const books: SeenBook[] = [];
    const bodies: string[] = [];
    for (const coin of marketIds.flatMap((id) => [tokenOf(id, 0), tokenOf(id, 1)])) {
      const read = await this.read('l2Book', { type: 'l2Book', coin }, oneBook, stop);
      if (isQuarantined(read)) return read;
      bodies.push(read.body);
      if (read.value !== null) books.push(bookOf(read.value));
    }
    return { value: books, body: bodies.join('\n') };
  }

  socketAddress(): Promise<SocketAddress | undefined> {
    const url = new URL('/ws', this.ports.url);
    url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
    return Promise.resolve({ url: url.href });
  }

  connection(): ConnectionOfE {
    return new ConnectionOfE(() => this.millis() * MICROS_PER_MILLI);
  }

  private async read<T>(
    what: string,
    question: object,
    shape: z.ZodType<T>,
    stop: AbortSignal,
  ): Promise<BodyReading<T>> {
    const request = { url: new URL('/info', this.ports.url), body: JSON.stringify(question) };
    return readBody(what, await this.ports.reads.good(request, stop), shape);
  }

  private millis(): number {
    return Number(this.ports.clock.epochNanos() / NANOS_PER_MICRO / BigInt(MICROS_PER_MILLI));
  }
}
