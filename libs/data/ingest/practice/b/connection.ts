import { FULL_PRICE } from '../../../rules/scales.js';
import type { BookLevel } from '../../../rules/events.js';
import type { FrameNews, SeenBook, VenueConnection } from '../protocol.js';
import { mapped, readBody, type BodyReading } from '../reading.js';
import { frameShape, type BookOfB, type FrameOfB } from './shapes.js';

const MOST_TICKERS = 200;
const MICROS_PER_MILLI = 1_000;
const BODY_NAME = 'a frame of the socket';

/** The state of one socket connection: its subscriptions, and the next sequence number of each. */
export class ConnectionOfB implements VenueConnection {
  private readonly numbers = new Map<number, number>();
  private commands = 0;

  follow(tickers: readonly string[]): readonly string[] {
    const texts = this.commands === 0 ? [this.subscribe({ channels: ['trade', 'market_lifecycle_v2'] })] : [];
    for (let from = 0; from < tickers.length; from += MOST_TICKERS) {
      const market_tickers = tickers.slice(from, from + MOST_TICKERS);
      texts.push(this.subscribe({ channels: ['orderbook_delta'], market_tickers }));
    }
    return texts;
  }

  read(frame: string): BodyReading<readonly FrameNews[]> {
    return mapped(BODY_NAME, readBody(BODY_NAME, frame, frameShape), (value) => this.updatesIn(value));
  }

  private subscribe(params: object): string {
    this.commands += 1;
    return JSON.stringify({ id: this.commands, cmd: 'subscribe', params });
  }

  private updatesIn(frame: FrameOfB): readonly FrameNews[] {
    if ('seq' in frame) {
      const before = this.numbers.get(frame.sid) ?? 0;
      if (frame.seq <= before) return [];
      if (frame.seq > before + 1) return [{ what: 'lost', reason: 'numbers are missing' }];
      this.numbers.set(frame.sid, frame.seq);
    }
    switch (frame.type) {
      case 'subscribed':
      case 'unsubscribed':
      case 'ok':
        return [];
      case 'error':
        return [{ what: 'lost', reason: frame.msg.msg ?? `error ${String(frame.msg.code)}` }];
      case 'trade':
        return [{ what: 'trade' }];
      case 'market_lifecycle_v2':
        return [{ what: 'market' }];
      case 'orderbook_snapshot': {
        const { market_ticker, yes_dollars_fp: yes = [], no_dollars_fp: no = [] } = frame.msg;
        return [{ what: 'book', book: bookOf(market_ticker, { yes_dollars: yes, no_dollars: no }) }];
      }
      case 'orderbook_delta':
        return [{ what: 'change', change: changeOf(frame.msg) }];
    }
  }
}

/** The book in terms of Yes: a bid for No is an offer of Yes. */
export function bookOf(ticker: string, { yes_dollars, no_dollars }: BookOfB): SeenBook {
  return {
    ...{ market_id: ticker, outcome_index: 0 },
    bids: yes_dollars.map(([price, size]) => ({ price, size })),
    asks: no_dollars.map(([price, size]): BookLevel => ({ price: FULL_PRICE - price, size })),
  };
}

type Delta = Extract<FrameOfB, { type: 'orderbook_delta' }>['msg'];

function changeOf({
  market_ticker,
  price_dollars: price,
  side,
  delta_fp: delta,
  ts_ms,
}: Delta): Extract<FrameNews, { what: 'change' }>['change'] {
  return {
    ...{ market_id: market_ticker, outcome_index: 0, delta },
    ...(side === 'yes' ? { side: 'bids', price } : { side: 'asks', price: FULL_PRICE - price }),
    ...(ts_ms === undefined ? {} : { at: ts_ms * MICROS_PER_MILLI }),
  };
}
