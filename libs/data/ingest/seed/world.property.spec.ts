import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { recordedLine } from '#libs/testing/data/recorded-line.js';
import { bookAfter, isFresh, type BookState } from '../../rules/books.js';
import { readRecord, writeRecord } from '../../rules/event-codec.js';
import type { MarketDataEvent, MarketEvent, TradeEvent } from '../../rules/events.js';
import { listedMarket, marketAfter, resolutionOf, statusOf, type FoldedMarket } from '../../rules/markets.js';
import type { Provider } from '../../rules/providers.js';
import { readEvent } from '../read-event.js';
import { SeedWorld } from './world.js';

const SECOND = 1_000_000;
const START = Date.UTC(2026, 10, 28, 11, 3, 7) * 1_000;
const VENUES = ['venue_a', 'venue_b', 'venue_c', 'venue_d', 'venue_e'] as const;
const STREAMS = [...VENUES, 'labels'];
/** Some minutes after the first start, so that windows and games end within it. */
const LIVE = 40 * 60 * SECOND;

function worldOf(seed: string, start = START): SeedWorld {
  return new SeedWorld({ seed, start, scale: 0.5, endAtStart: new Set() });
}

const world = worldOf('one');
const all = new Map(STREAMS.map((of) => [of, world.events(of, { from: world.opens, until: START + LIVE })]));

function eventsOf(of: string): readonly MarketDataEvent[] {
  return all.get(of) ?? [];
}

const text = (events: readonly MarketDataEvent[]): string => events.map(recordedLine).join('\n');

describe('a world', () => {
  it('is the same for the same seed and start, and different for others', () => {
    const span = { from: world.opens, until: START + LIVE };
    for (const name of ['venue_b', 'venue_d', 'labels']) {
      const expected = text(eventsOf(name));
      expect(text(worldOf('one').events(name, span)) === expected).toBe(true);
      expect(text(worldOf('two').events(name, span)) === expected).toBe(false);
      expect(text(worldOf('one', START + SECOND).events(name, span)) === expected).toBe(false);
    }
  });

  it('is the same however it is split into spans', () => {
    const late = START - 2 * 3_600 * SECOND;
    fc.assert(
      fc.property(
        fc.constantFrom(...STREAMS),
        fc.array(fc.integer({ min: late / SECOND, max: (START + LIVE) / SECOND }), { maxLength: 12 }),
        fc.integer({ min: 0, max: SECOND - 1 }),
        (of, seconds, micros) => {
          const cuts = [...seconds.map((second) => second * SECOND + micros)].sort((a, b) => a - b);
          const ends = [...cuts.filter((cut) => cut < START + LIVE), START + LIVE];
          let from = late;
          const parts = ends.flatMap((until) => {
            const part = until > from ? world.events(of, { from, until }) : [];
            from = Math.max(from, until);
            return part;
          });
          expect(text(parts)).toEqual(text(eventsOf(of).filter((event) => event.received_at >= late)));
        },
      ),
      { numRuns: 6 },
    );
    for (let from = START + 300 * SECOND; from < START + 500 * SECOND; from += SECOND) {
      const second = { from, until: from + SECOND };
      const whole = eventsOf('venue_a').filter(
        ({ received_at }) => received_at >= from && received_at < from + SECOND,
      );
      expect(world.events('venue_a', second)).toEqual(whole);
    }
  });

  it('sends every event once', () => {
    for (const of of STREAMS) {
      const names = eventsOf(of).map(({ type, source_id }) => `${type} ${source_id}`);
      expect(new Set(names).size).toBe(names.length);
      expect(names.length).toBeGreaterThan(500);
    }
  });

  it('passes the codec and the reader of the recorded source unchanged', () => {
    const books = VENUES.flatMap((provider) => world.books(provider, START));
    for (const event of [...STREAMS.flatMap(eventsOf), ...books]) {
      if (event.type !== 'BOOK') expect(readRecord(writeRecord(event))).toEqual(event);
      const read = readEvent(Buffer.from(recordedLine(event)), event.received_at);
      expect(read).toEqual({ ok: true, event });
    }
  });

  it('has all kinds of events, within the size of a start', () => {
    const counts = new Map<string, number>();
    const full = new SeedWorld({ seed: 'one', start: START, scale: 1, endAtStart: new Set() });
    for (const of of STREAMS) {
      for (const { type } of full.events(of, { from: full.opens, until: START })) {
        counts.set(type, (counts.get(type) ?? 0) + 1);
      }
    }
    expect([...counts.keys()].sort()).toEqual([
      ...['LEDGER', 'MARKET', 'RESOLUTION', 'SCORE', 'STATUS', 'TICK', 'TRADE', 'TRADE_BUST'],
    ]);
    const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
    expect(total).toBeGreaterThan(20_000);
    expect(total).toBeLessThan(32_000);
  });

  it('leaves out markets that it does not follow to their end', () => {
    const ending = new SeedWorld({ seed: 'one', start: START, scale: 0.5, endAtStart: new Set(['venue_b']) });
    const span = { from: ending.opens, until: START };
    const left = [...foldsOf(ending.events('venue_b', span)).values()].filter(
      (market) => statusOf(market) !== 'settled' && (market.details.expires_at ?? Infinity) <= START,
    );
    expect(left.map(({ market_id }) => market_id).filter((id) => /UP|15M|1H|NBA-/.test(id))).toEqual([]);
    expect(text(ending.events('venue_a', span)) === text(world.events('venue_a', span))).toBe(true);
  });
});

function foldsOf(events: readonly MarketDataEvent[]): Map<string, FoldedMarket> {
  const folds = new Map<string, FoldedMarket>();
  for (const event of events) {
    if (event.type !== 'MARKET' && event.type !== 'STATUS' && event.type !== 'RESOLUTION') continue;
    const known = folds.get(event.market_id);
    if (known === undefined) {
      expect(event.type).toBe('MARKET');
      if (event.type === 'MARKET') folds.set(event.market_id, listedMarket(event));
      continue;
    }
    const read = marketAfter(known, event);
    expect(read.ok).toBe(true);
    if (read.ok) folds.set(event.market_id, read.state);
  }
  return folds;
}

describe.each(VENUES)('markets of %s', (provider) => {
  const events = eventsOf(provider);
  const folds = foldsOf(events);
  const trades = events.filter((event) => event.type === 'TRADE');

  it('have ids in the format of their venue', () => {
    for (const { details } of folds.values()) {
      const tokens = details.outcomes.map(({ token_id }) => token_id ?? '');
      const form = {
        ...{ venue_a: /^\d{70,78}$/, venue_b: /^$/, venue_c: /^\d{70,78}$/, venue_d: /^d[0-9a-f]{24}$/ },
        venue_e: new RegExp(`^#${details.market_id}[01]$`),
      }[provider];
      for (const token of tokens) expect(token).toMatch(form);
      expect(details.condition_id === undefined).toBe(provider !== 'venue_a');
    }
    const names = [...folds.values()].flatMap(({ market_id, details }) => [
      ...[market_id, details.condition_id ?? []].flat(),
      ...details.outcomes.flatMap(({ token_id }) => token_id ?? []),
    ]);
    expect(new Set(names).size).toBe(names.length);
  });

  it('trade on their grid while they are open, without gaps in numbered trades', () => {
    const numbers = new Map<string, bigint[]>();
    for (const trade of trades) {
      const { details } = folds.get(trade.market_id) ?? {};
      const { tick_size = 0, lot_size = 0n, min_price = 0, max_price = 0 } = details?.contract ?? {};
      expect([trade.price % tick_size, trade.size % lot_size]).toEqual([0, 0n]);
      expect(trade.price >= min_price && trade.price <= max_price).toBe(true);
      expect(trade.source_ts).toBeGreaterThanOrEqual(details?.listed_at ?? Infinity);
      expect(trade.taker === undefined).toBe(provider === 'venue_b');
      if (trade.seq !== undefined) {
        numbers.set(trade.market_id, [...(numbers.get(trade.market_id) ?? []), trade.seq]);
      }
    }
    for (const seqs of numbers.values()) {
      const sorted = seqs.sort((left, right) => (left < right ? -1 : 1));
      expect(sorted).toEqual(sorted.map((_seq, index) => BigInt(index + 1)));
    }
  });

  it('are closed and settled, and some are void or corrected', () => {
    const settled = [...folds.values()].filter((market) => statusOf(market) === 'settled');
    expect(settled.length).toBeGreaterThan(3);
    for (const market of settled) {
      expect(resolutionOf(market)?.payouts.reduce((sum, payout) => sum + payout, 0)).toBe(1_000_000);
    }
  });

  it('have books that are consistent every second, fresh and never crossed', () => {
    const books = new Map<string, BookState | undefined>();
    // A game is listed within this time.
    const from = START + 5_360 * SECOND;
    for (const book of world.books(provider, from - SECOND)) {
      books.set(`${book.market_id} ${String(book.outcome_index)}`, bookAfter(undefined, book));
    }
    expect(books.size).toBeGreaterThan(5);
    for (let at = from; at < from + 90 * SECOND; at += SECOND) {
      for (const book of world.bookChanges(provider, { from: at, until: at + SECOND })) {
        const name = `${book.market_id} ${String(book.outcome_index)}`;
        books.set(name, bookAfter(books.get(name), book));
        expect(books.get(name)).toMatchObject({ isDropped: false, sequence: book.sequence });
      }
    }
    const stale = [...books.values()].filter(
      (book) => book === undefined || !isFresh(book, from + 90 * SECOND),
    );
    // Books whose markets have closed.
    expect(stale.length).toBeLessThan(12);
    const now = world.books(provider, from + 90 * SECOND - SECOND);
    for (const book of now) {
      const known = books.get(`${book.market_id} ${String(book.outcome_index)}`);
      const again = bookAfter(undefined, book);
      expect(known?.bids).toEqual(again?.bids);
      expect(known?.asks).toEqual(again?.asks);
    }
  });
});

describe('labels of equivalent markets', () => {
  const labels = world.labels();
  const details = new Map<string, MarketEvent>();
  for (const provider of VENUES) {
    for (const event of eventsOf(provider)) {
      if (event.type === 'MARKET') details.set(`${provider} ${event.market_id}`, event);
    }
  }
  const termsOf = ({ provider, market_id }: { provider: Provider; market_id: string }): unknown =>
    details.get(`${provider} ${market_id}`)?.terms;

  it('exist in sufficient number, and so do traps', () => {
    const of = (label: string): number => labels.filter((pair) => pair.label === label).length;
    expect(of('identical')).toBeGreaterThan(400);
    expect(of('complement')).toBeGreaterThan(100);
    expect(of('trap')).toBeGreaterThan(300);
    const names = labels.map(({ a, b }) => JSON.stringify([a, b]));
    expect(new Set(names).size).toBe(names.length);
  });

  it('follow from the terms of the markets', () => {
    let compared = 0;
    for (const { a, b, label } of labels) {
      const [left, right] = [termsOf(a), termsOf(b)].map(coreOf);
      if (left === undefined || right === undefined) continue;
      compared += 1;
      const isEqual = JSON.stringify(left) === JSON.stringify(right);
      const isTurned = JSON.stringify(turned(left)) === JSON.stringify(right);
      if (label === 'identical') expect(isEqual).toBe(true);
      if (label === 'complement') expect(isEqual).toBe(false);
      if (label === 'trap') expect(isEqual || isTurned).toBe(false);
    }
    expect(compared).toBeGreaterThan(300);
  });

  it('match the payouts: equal for identical markets, opposite for complements', () => {
    const folds = new Map(VENUES.map((provider) => [provider, foldsOf(eventsOf(provider))]));
    let compared = 0;
    for (const { a, b, label } of labels) {
      const [left, right] = [a, b].map(({ provider, market_id }) => {
        const market = provider === 'venue_f' ? undefined : folds.get(provider)?.get(market_id);
        return market === undefined || statusOf(market) !== 'settled'
          ? undefined
          : resolutionOf(market)?.payouts[0];
      });
      if (left === undefined || right === undefined || label === 'trap') continue;
      compared += 1;
      const isVoid = left > 0 && left < 1_000_000;
      if (!isVoid) expect(right).toBe(label === 'identical' ? left : 1_000_000 - left);
    }
    expect(compared).toBeGreaterThan(100);
  });
});

interface Core {
  readonly comparator: unknown;
}

function coreOf(terms: unknown): (Core & Record<string, unknown>) | undefined {
  if (typeof terms !== 'object' || terms === null) return undefined;
  const { subjects, predicate, comparator, numbers, unit, period, observation, scope } = terms as Record<
    string,
    unknown
  >;
  return { subjects, predicate, comparator, numbers, unit, period, observation, scope };
}

function turned(core: Core & Record<string, unknown>): object {
  const other: Record<string, string> = { gt: 'lte', lte: 'gt', gte: 'lt', lt: 'gte' };
  return { ...core, comparator: other[String(core.comparator)] ?? 'nothing' };
}

describe('incidents of other systems', () => {
  it('archives lacked whole kinds and periods (prediction-market-analysis issue 7): each market is complete from its listing on', () => {
    for (const provider of VENUES) {
      for (const event of eventsOf(provider)) {
        if (event.type !== 'MARKET') continue;
        expect(event.listed_at).toBeGreaterThanOrEqual(world.opens);
        expect(event.listed_at).toBeLessThanOrEqual(event.source_ts);
      }
    }
  });

  it('a market was settled early and its scheduled end stayed in the future (forecastbench issue 280): a later event corrects it', () => {
    const early = VENUES.flatMap((provider) => [...foldsOf(eventsOf(provider)).values()]).filter(
      ({ details }) => details.source_id.includes('@early-'),
    );
    expect(early.length).toBeGreaterThan(0);
    for (const market of early) {
      const { expires_at = Infinity, source_ts } = market.details;
      expect(expires_at).toBeLessThanOrEqual(source_ts);
      const first = eventsOf(market.provider).find(
        (event) => event.type === 'MARKET' && event.market_id === market.market_id,
      );
      expect(first?.type === 'MARKET' ? first.expires_at : 0).toBeGreaterThan(expires_at);
    }
  });

  it('several fills of one transaction looked like one: equal fills differ by their position in it', () => {
    const byTransaction = new Map<string, TradeEvent[]>();
    for (const event of eventsOf('venue_a')) {
      if (event.type !== 'TRADE' || event.tx_hash === undefined) continue;
      byTransaction.set(event.tx_hash, [...(byTransaction.get(event.tx_hash) ?? []), event]);
    }
    const equal = [...byTransaction.values()].filter((fills) =>
      fills.some((one, index) =>
        fills.slice(index + 1).some((other) => one.price === other.price && one.size === other.size),
      ),
    );
    expect(equal.length).toBeGreaterThan(10);
  });
});
