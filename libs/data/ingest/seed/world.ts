import type { BookEvent, MarketDataEvent } from '../../rules/events.js';
import { PROVIDERS, type Provider } from '../../rules/providers.js';
import { floorTo, MICROS_PER_SECOND } from '../../rules/times.js';
import { bookChanges, bookSnapshots, hasBooks } from './books.js';
import { DAY, HOUR, MINUTE } from './calendar.js';
import { claimedMarkets, type ClaimedMarket } from './claimed-markets.js';
import { gameMarkets } from './game-markets.js';
import { gamesBetween, scoresBetween } from './games.js';
import { labelledPairs, type LabelledPair } from './labels.js';
import type { SeedMarket } from './market.js';
import { redemptionsOf } from './redemptions.js';
import { isWithin, secondsOf, type WorldSpan } from './spans.js';
import { ticksBetween } from './ticks.js';
import { DELAYS_SECONDS, eventsOfMoment } from './trading.js';
import { momentsOf } from './turns.js';
import { windowMarkets } from './windows.js';

export interface WorldOptions {
  readonly seed: string;
  /** The first start, in whole seconds of microseconds. */
  readonly start: number;
  readonly scale: number;
}

interface WorldParts extends WorldOptions {
  /** Nothing is told of these after the first start. */
  readonly endAtStart: ReadonlySet<Provider>;
}

const HISTORY = 30 * DAY;
const BLOCK = 5 * MINUTE;
/** Nothing of a market comes later after its settlement. */
const AFTERLIFE = HOUR;
const LONGEST_DELAY_SECONDS = Math.max(...DELAYS_SECONDS) + 1;
const SHORTEST_DELAY_SECONDS = Math.min(...DELAYS_SECONDS) / 2;
const DELAY = LONGEST_DELAY_SECONDS * MICROS_PER_SECOND;

/**
 * A world of markets that is made from a seed and the time of its first start alone. Every span of time can be told by itself, so
 * nothing but how far it has been told needs to be remembered.
 */
export class SeedWorld {
  readonly opens: number;
  private readonly blocks = new Map<
    Provider,
    { readonly begins: number; readonly markets: readonly ClaimedMarket[] }
  >();
  private readonly ever = new Map<Provider, WorldSpan & { readonly markets: readonly SeedMarket[] }>();
  private readonly lasting = new Map<Provider, ClaimedMarket[]>();

  constructor(private readonly options: WorldParts) {
    const { seed, start } = options;
    this.opens = start - HISTORY;
    for (const market of claimedMarkets(seed, { ...options, opens: this.opens })) {
      const { provider } = market.market;
      const others = this.lasting.get(provider);
      if (others === undefined) this.lasting.set(provider, [market]);
      else others.push(market);
    }
  }

  get start(): number {
    return this.options.start;
  }

  /** All but books: ascending by `received_at`, then as they depend on each other. */
  events(of: string, span: WorldSpan): MarketDataEvent[] {
    const provider = PROVIDERS.find((each) => each === of);
    const events = provider === undefined ? this.labelEvents(span) : this.providerEvents(provider, span);
    return events.filter((event) => isWithin(event.received_at, span)).sort(inOrder);
  }

  /** How all books of markets that trade then stand. */
  books(provider: Provider, at: number): BookEvent[] {
    const second = Math.floor(at / MICROS_PER_SECOND);
    return this.marketsDuring(provider, { from: at - 1, until: at + 1 })
      .filter((market) => hasBooks(market, second))
      .flatMap((market) => bookSnapshots(market, second));
  }

  bookChanges(provider: Provider, span: WorldSpan): BookEvent[] {
    const [from, until] = secondsOf(span);
    return this.marketsDuring(provider, span).flatMap((market) => bookChanges(market, from, until));
  }

  /** Those that live at any moment of the span. */
  marketsDuring(provider: Provider, span: WorldSpan): SeedMarket[] {
    return this.claimedDuring(provider, span).map(({ market }) => market);
  }

  /** These, and all that last for days, whenever they do. */
  marketsEver(provider: Provider, span: WorldSpan): readonly SeedMarket[] {
    const known = this.ever.get(provider);
    if (known?.from === span.from && known.until === span.until) return known.markets;
    const lasting = this.lasting.get(provider) ?? [];
    const markets = [...lasting, ...this.passing(provider, span)].map(({ market }) => market);
    this.ever.set(provider, { ...span, markets });
    return markets;
  }

  /** What is equivalent and what only looks like it, of markets that were listed up to the first start. */
  labels(): LabelledPair[] {
    const span = { from: this.opens, until: this.start };
    return labelledPairs(PROVIDERS.flatMap((provider) => this.claimedDuring(provider, span)));
  }

  private claimedDuring(provider: Provider, span: WorldSpan): ClaimedMarket[] {
    return [...(this.lasting.get(provider) ?? []), ...this.passing(provider, span)].filter(
      ({ market: { life } }) =>
        (life[0]?.received_at ?? Infinity) < span.until &&
        (life.at(-1)?.received_at ?? 0) + AFTERLIFE > span.from,
    );
  }

  /** Windows and games. Those of a short span are made once for many. */
  private passing(provider: Provider, { from, until }: WorldSpan): readonly ClaimedMarket[] {
    const begins = floorTo(from, BLOCK);
    if (until > begins + BLOCK) return this.passingAnew(provider, { from, until });
    const known = this.blocks.get(provider);
    if (known?.begins === begins) return known.markets;
    const markets = this.passingAnew(provider, { from: begins, until: begins + BLOCK });
    this.blocks.set(provider, { begins, markets });
    return markets;
  }

  private passingAnew(provider: Provider, span: WorldSpan): ClaimedMarket[] {
    const { seed } = this.options;
    const [from, until] = secondsOf(span);
    const start = this.start / MICROS_PER_SECOND;
    const markets = [
      ...windowMarkets({ seed, provider, start, from: from - LONGEST_DELAY_SECONDS, until }),
      ...gamesBetween(seed, { start, from, until }).flatMap((game) =>
        gameMarkets(seed, game, { provider, start }),
      ),
    ];
    // What is not told to its end would stay open for ever.
    return this.options.endAtStart.has(provider)
      ? markets.filter(({ market: { life } }) => (life.at(-1)?.received_at ?? 0) < this.start)
      : markets;
  }

  private providerEvents(provider: Provider, span: WorldSpan): MarketDataEvent[] {
    const [from, until] = secondsOf(span);
    return this.marketsDuring(provider, span).flatMap((market) => [
      ...market.life,
      ...traded(market, from, until),
      ...redemptionsOf(market, { from: span.from - DELAY, until: span.until }),
    ]);
  }

  private labelEvents(span: WorldSpan): MarketDataEvent[] {
    const { seed } = this.options;
    const [from, until] = secondsOf(span);
    const times = { start: this.start / MICROS_PER_SECOND, from, until };
    return [
      ...ticksBetween(seed, times),
      ...gamesBetween(seed, times).flatMap((game) => scoresBetween(game, times)),
    ];
  }
}

/** What comes between these unix seconds, and what comes late of those before. */
function traded(market: SeedMarket, from: number, until: number): MarketDataEvent[] {
  const late = until - from < SHORTEST_DELAY_SECONDS ? DELAYS_SECONDS : [];
  const first = late.length > 0 ? from : from - LONGEST_DELAY_SECONDS;
  return [
    ...late.flatMap((delay) => momentsOf(market, from - delay - 1, until - delay)),
    ...momentsOf(market, first, until),
  ].flatMap((moment) => eventsOfMoment(market, moment));
}

const TURN = ['MARKET', 'STATUS', 'TRADE', 'TRADE_BUST', 'LEDGER', 'RESOLUTION'];

function inOrder(left: MarketDataEvent, right: MarketDataEvent): number {
  if (left.received_at !== right.received_at) return left.received_at - right.received_at;
  if (left.type !== right.type) return TURN.indexOf(left.type) - TURN.indexOf(right.type);
  return left.source_id < right.source_id ? -1 : 1;
}
