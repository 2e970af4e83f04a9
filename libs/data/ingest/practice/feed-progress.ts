import { NANOS_PER_MICRO } from '#libs/base/instant.js';
import type { Clock } from '#libs/platform/time/clock.js';
import type { MarketDataEvent } from '../../rules/events.js';
import type { Quarantined, SourceBatch } from '../source.js';
import { Outlet } from './outlet.js';

const CAPACITY = 8;

/** How far a venue is read. All batches go out through its queue. */
export class FeedProgress {
  readonly outlet = new Outlet<SourceBatch | Quarantined>(CAPACITY);
  /** Whether the last read of the venue's market list was good. */
  areMarketsGood = false;
  /** Whether the market list was ever read completely. */
  hasMarkets = false;
  private areTradesRead = false;
  private asOf: number | undefined;

  /** These venues keep all trades, so a read without a cursor reaches back to each listing. */
  private readonly reaches: Pick<SourceBatch, 'reachesFrom'>;

  constructor(
    private readonly clock: Clock,
    private cursor: string,
  ) {
    this.reaches = cursor === '' ? { reachesFrom: 0 } : {};
  }

  now(): number {
    return Number(this.clock.epochNanos() / NANOS_PER_MICRO);
  }

  async put(events: readonly MarketDataEvent[]): Promise<void> {
    const { cursor, asOf } = this;
    const isCaughtUp = this.areTradesRead && this.hasMarkets;
    await this.outlet.put({
      ...{ events, cursor, isCaughtUp, ...(isCaughtUp ? this.reaches : {}) },
      ...(asOf === undefined ? {} : { asOf }),
    });
  }

  /** Call it when all trades that the venue had at that time are read. */
  async tradesRead(began: number, cursor: string): Promise<void> {
    this.areTradesRead = true;
    this.cursor = cursor;
    if (this.areMarketsGood) this.asOf = began;
    await this.put([]);
  }

  marketsRead(isGood: boolean): void {
    this.areMarketsGood = isGood;
    this.hasMarkets ||= isGood;
  }
}
