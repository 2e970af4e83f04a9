import type { Clock } from '#libs/platform/time/clock.js';
import { Bell, sleep } from './bell.js';
import type { FeedProgress } from './feed-progress.js';
import { MarketChanges } from './market-changes.js';
import type { PriceWatch } from './price-watch.js';
import type { SeenMarket, VenueProtocol } from './protocol.js';
import { isQuarantined, quarantined, type BodyReading } from './reading.js';

export interface MarketFollowerPorts {
  readonly clock: Clock;
  readonly protocol: VenueProtocol;
  readonly prices: PriceWatch;
  readonly progress: FeedProgress;
  readonly onOpen: (marketIds: readonly string[]) => void;
  readonly onEnded: (marketIds: readonly string[]) => void;
}

const EVERY_MILLIS = 3_000;
const LEAST_MILLIS = 100;
const BAD_MILLIS = 2_000;

/** Polls a venue's list of markets, sooner when its socket reports news. */
export class MarketFollower {
  private readonly bell: Bell;
  private readonly changes: MarketChanges;

  constructor(private readonly ports: MarketFollowerPorts) {
    this.bell = new Bell(ports.clock);
    this.changes = new MarketChanges(ports.protocol.provider);
  }

  ring(): void {
    this.bell.ring();
  }

  /** Polls at once if one of these markets is unknown. */
  expect(marketIds: Iterable<string>): void {
    for (const id of marketIds) if (!this.changes.knows(id)) this.bell.ring();
  }

  async run(stop: AbortSignal): Promise<void> {
    const isOver = (): boolean => stop.aborted;
    while (!isOver()) {
      const { areMarketsGood } = this.ports.progress;
      await this.bell.wait(areMarketsGood ? EVERY_MILLIS : BAD_MILLIS, stop);
      if (!isOver()) await this.read(stop);
      await sleep(this.ports.clock, LEAST_MILLIS, stop);
    }
  }

  async read(stop: AbortSignal): Promise<void> {
    const { progress, protocol, onOpen, onEnded } = this.ports;
    for await (const page of protocol.markets(progress.hasMarkets ? 'recent' : 'all', stop)) {
      const markets = this.plausible(page);
      if (isQuarantined(markets)) {
        progress.marketsRead(false);
        await progress.outlet.put(markets);
        return;
      }
      const now = progress.now();
      const events = markets.value.flatMap((market) => this.changes.eventsOf(market, now));
      if (events.length > 0) await progress.put(events);
      onOpen(idsOf(markets.value, true));
      onEnded(idsOf(markets.value, false));
    }
    if (!stop.aborted) progress.marketsRead(true);
  }

  private plausible(page: BodyReading<readonly SeenMarket[]>): BodyReading<readonly SeenMarket[]> {
    if (isQuarantined(page)) return page;
    const prices = page.value.flatMap(({ terms, last_price: price }) =>
      price === undefined ? [] : [{ of: `last ${terms.market_id}`, price }],
    );
    if (this.ports.prices.isBelievable(prices, 'still')) return page;
    return quarantined('markets', 'too many prices move to 0 or 1', page.body);
  }
}

function idsOf(markets: readonly SeenMarket[], isOpen: boolean): string[] {
  return markets
    .filter(({ status }) => (status === 'open' || status === 'active') === isOpen)
    .map(({ terms }) => terms.market_id);
}
