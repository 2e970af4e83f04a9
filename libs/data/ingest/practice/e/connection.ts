import type { TradeEvent } from '../../../rules/events.js';
import { BadBody, mapped, readBody, type BodyReading } from '../reading.js';
import type { FrameNews, SeenBook, VenueConnection } from '../protocol.js';
import { sideOfToken, tokenOf } from './markets.js';
import { frameShape, type BookOfE, type FrameOfE, type TradeOfE } from './shapes.js';

const BODY_NAME = 'a frame of the socket';
const SIDES = [0, 1] as const;
/** The limit of one connection. Books beyond it are read instead. */
const MOST_SUBSCRIPTIONS = 900;

export class ConnectionOfE implements VenueConnection {
  private subscriptions = 0;

  constructor(private readonly now: () => number) {}

  /** Subscribes to trades before books: books without a subscription can be read instead. */
  follow(marketIds: readonly string[]): readonly string[] {
    const coins = marketIds.flatMap((id) => SIDES.map((side) => tokenOf(id, side)));
    const wanted: object[] = (['trades', 'l2Book'] as const).flatMap((type) =>
      coins.map((coin) => ({ type, coin })),
    );
    if (this.subscriptions === 0) wanted.unshift({ type: 'outcomeMetaUpdates' });
    const some = wanted.slice(0, Math.max(0, MOST_SUBSCRIPTIONS - this.subscriptions));
    this.subscriptions += some.length;
    return some.map((subscription) => JSON.stringify({ method: 'subscribe', subscription }));
  }

  read(frame: string): BodyReading<readonly FrameNews[]> {
    return mapped(BODY_NAME, readBody(BODY_NAME, frame, frameShape), (value) => this.updatesIn(value));
  }

  private updatesIn(frame: FrameOfE): readonly FrameNews[] {
    switch (frame.channel) {
      case 'pong':
      case 'subscriptionResponse':
        return [];
      case 'error':
        return [{ what: 'lost', reason: frame.data }];
      case 'trades': {
        const now = this.now();
        return frame.data.map((trade) => ({ what: 'trade', trade: tradeEvent(trade, now) }));
      }
      case 'outcomeMetaUpdates':
        return [{ what: 'market' }];
      case 'l2Book':
        return [{ what: 'book', book: bookOf(frame.data) }];
    }
  }
}

/** One event for each match, with the outcome and side of the taker. */
export function tradeEvent(
  { coin, side, px, sz, time, hash, tid }: TradeOfE,
  received_at: number,
): TradeEvent {
  if (sz === 0n) throw new BadBody(`trade ${String(tid)} has no size`);
  return {
    ...{ type: 'TRADE', provider: 'venue_e', ...sideOfToken(coin), source_id: String(tid) },
    ...{ source_ts: time, received_at, price: px, size: sz },
    ...{ side: side === 'B' ? 'buy' : 'sell', tx_hash: hash },
  };
}

export function bookOf({ coin, time, levels: [bids, asks] }: BookOfE): SeenBook {
  const levelOf = ({ px: price, sz: size }: BookOfE['levels'][0][number]): SeenBook['bids'][number] => ({
    price,
    size,
  });
  return { ...sideOfToken(coin), at: time, bids: bids.map(levelOf), asks: asks.map(levelOf) };
}
