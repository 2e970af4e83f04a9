import type { Clock } from '#libs/platform/time/clock.js';
import type { Quarantined, SourceBatch, SourceFeed } from '../source.js';
import { sleep } from './bell.js';
import { FeedProgress } from './feed-progress.js';
import { FeedSession } from './feed-session.js';
import { MarketChanges } from './market-changes.js';
import { PriceWatch } from './price-watch.js';
import type { VenueProtocol } from './protocol.js';
import { isQuarantined } from './reading.js';
import { FeedBackOff } from './public-reads.js';

/** The public API of one venue as a source. */
export class VenueFeed implements SourceFeed {
  readonly source = 'practice';
  private readonly prices = new PriceWatch();
  private readonly backOff: FeedBackOff;

  constructor(
    private readonly protocol: VenueProtocol,
    private readonly clock: Clock,
  ) {
    this.backOff = new FeedBackOff();
  }

  get of(): string {
    return this.protocol.provider;
  }

  async *follow(
    cursor: string | undefined,
    stop: AbortSignal,
  ): AsyncGenerator<SourceBatch | Quarantined, void> {
    await sleep(this.clock, this.backOff.millis, stop);
    const { protocol, clock, prices } = this;
    try {
      for await (const item of new FeedSession({ protocol, clock, prices }, cursor).run(stop)) {
        if ('events' in item && item.isCaughtUp) this.backOff.succeeded();
        yield item;
      }
    } catch (error) {
      this.backOff.failed(error);
      throw error;
    }
  }

  async volumes(stop: AbortSignal): Promise<ReadonlyMap<string, bigint> | undefined> {
    const volumes = new Map<string, bigint>();
    for await (const page of this.protocol.markets('all', stop)) {
      if (isQuarantined(page)) return undefined;
      for (const { terms, volume } of page.value)
        if (volume !== undefined) volumes.set(terms.market_id, volume);
    }
    return volumes.size === 0 || stop.aborted ? undefined : volumes;
  }

  async *backfill(
    from: number,
    to: number,
    stop: AbortSignal,
  ): AsyncGenerator<SourceBatch | Quarantined, void> {
    const now = new FeedProgress(this.clock, '').now();
    const changes = new MarketChanges(this.protocol.provider);
    for await (const page of this.protocol.markets('all', stop)) {
      if (isQuarantined(page)) yield page;
      else yield spanBatch(page.value.flatMap((market) => changes.eventsOf(market, now)));
    }
    for await (const page of this.protocol.trades({ from, to }, stop)) {
      yield isQuarantined(page) ? page : spanBatch(page.value);
    }
  }
}

function spanBatch(events: SourceBatch['events']): SourceBatch {
  return { events, cursor: '', isCaughtUp: false };
}
