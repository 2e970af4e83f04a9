import type { Clock } from '#libs/platform/time/clock.js';
import type { TradeEvent } from '../../rules/events.js';
import { Bell, sleep } from './bell.js';
import type { FeedProgress } from './feed-progress.js';
import { isExtreme, type PriceWatch } from './price-watch.js';
import type { VenueProtocol } from './protocol.js';
import { isQuarantined, quarantined, type BodyReading } from './reading.js';

export interface TradeFollowerPorts {
  readonly clock: Clock;
  readonly protocol: VenueProtocol;
  readonly prices: PriceWatch;
  readonly progress: FeedProgress;
  readonly isSocketOpen: () => boolean;
  /** Called when the venue lists trades that its open socket has not sent. */
  readonly onSilence: () => void;
  /** Called with the markets that new trades belong to. */
  readonly onTrades: (marketIds: Iterable<string>) => void;
}

/** Poll intervals with and without an open socket. */
const EVERY_MILLIS = 1_000;
const EVERY_MILLIS_ALONE = 200;
const BAD_MILLIS = 2_000;
const LEAST_MILLIS = 20;
/** Pauses three times as long as a read took, so that reads take at most a quarter of the time. */
const PAUSE_FACTOR = 3;
const SILENT_MICROS = 2_000_000;
/** Trades may appear late, so each poll looks back. At the start, and once in a while, it looks back further. */
const OVERLAP_MICROS = 2_000_000;
const LONG_OVERLAP_MICROS = 60_000_000;
const LONG_EVERY = 30;
const MOST_KNOWN = 100_000;
const MICROS_PER_MILLI = 1_000;

/** Polls a venue's list of trades, sooner when its socket reports news, so that no trade is lost between connections. */
export class TradeFollower {
  private readonly bell: Bell;
  /** Trades that were already passed on, by trade id. */
  private readonly known = new Map<string, string>();
  private readUpTo: number | undefined;
  private polls = 0;
  private missingSince: number | undefined;

  constructor(
    private readonly ports: TradeFollowerPorts,
    cursor: string | undefined,
  ) {
    this.bell = new Bell(ports.clock);
    this.readUpTo = cursor !== undefined && /^\d{1,16}$/.test(cursor) ? Number(cursor) : undefined;
  }

  /** Call it when the socket reports that there is a trade. */
  ring(): void {
    this.missingSince = undefined;
    this.bell.ring();
  }

  /**
   * Takes a trade from the socket. An extreme price can only be judged among others, so that trade is read from the list instead.
   */
  async take(trade: TradeEvent): Promise<void> {
    this.missingSince = undefined;
    if (isExtreme(trade.price)) {
      this.bell.ring();
      return;
    }
    if (!this.isNew(trade)) return;
    await this.ports.progress.put([trade]);
    this.ports.onTrades([trade.market_id]);
  }

  async run(stop: AbortSignal): Promise<void> {
    const { clock, progress, isSocketOpen } = this.ports;
    let wasRung = true;
    while (!stop.aborted) {
      const began = progress.now();
      const isGood = await this.poll(began, wasRung, stop);
      const took = (progress.now() - began) / MICROS_PER_MILLI;
      this.watchSilence();
      await sleep(clock, Math.max(LEAST_MILLIS, took * PAUSE_FACTOR), stop);
      const every = isSocketOpen() ? EVERY_MILLIS : EVERY_MILLIS_ALONE;
      wasRung = await this.bell.wait(isGood ? every : BAD_MILLIS, stop);
    }
  }

  /** Returns false for a bad page: nothing of it is passed on, and the pages after it are read another time. */
  private async poll(began: number, wasRung: boolean, stop: AbortSignal): Promise<boolean> {
    const { progress, protocol, onTrades } = this.ports;
    let newest = this.readUpTo;
    for await (const page of protocol.trades({ from: this.startTime() }, stop)) {
      const trades = this.plausible(page);
      if (isQuarantined(trades)) {
        await progress.outlet.put(trades);
        return false;
      }
      const fresh = trades.value.filter((trade) => this.isNew(trade));
      if (fresh.length > 0) {
        if (!wasRung && this.polls > 0) this.missingSince ??= began;
        await progress.put(fresh);
        onTrades(new Set(fresh.map(({ market_id }) => market_id)));
      }
      for (const { source_ts } of trades.value) newest = Math.max(newest ?? 0, source_ts);
    }
    if (stop.aborted) return true;
    this.polls += 1;
    this.readUpTo = newest;
    this.forget();
    await progress.tradesRead(began, newest === undefined ? '' : String(newest));
    return true;
  }

  private startTime(): number {
    const overlap = this.polls % LONG_EVERY === 0 ? LONG_OVERLAP_MICROS : OVERLAP_MICROS;
    return Math.max(0, (this.readUpTo ?? 0) - overlap);
  }

  private plausible(page: BodyReading<readonly TradeEvent[]>): BodyReading<readonly TradeEvent[]> {
    if (isQuarantined(page)) return page;
    const prices = page.value.map(({ market_id, outcome_index, price }) => ({
      of: `${String(outcome_index)}:${market_id}`,
      price,
    }));
    return this.ports.prices.isBelievable(prices, 'moved')
      ? page
      : quarantined('trades', 'too many prices move to 0 or 1', page.body);
  }

  /** A known trade id with different content is passed on too: ingest counts such conflicts. */
  private isNew(trade: TradeEvent): boolean {
    const content = [trade.market_id, trade.outcome_index, trade.price, trade.size, trade.source_ts].join(
      ' ',
    );
    if (this.known.get(trade.source_id) === content) return false;
    this.known.set(trade.source_id, content);
    return true;
  }

  private forget(): void {
    let extra = this.known.size - MOST_KNOWN;
    for (const id of this.known.keys()) {
      if (extra <= 0) return;
      this.known.delete(id);
      extra -= 1;
    }
  }

  private watchSilence(): void {
    const { progress, isSocketOpen, onSilence } = this.ports;
    if (!isSocketOpen()) this.missingSince = undefined;
    if (this.missingSince === undefined || progress.now() - this.missingSince < SILENT_MICROS) return;
    this.missingSince = undefined;
    onSilence();
  }
}
