import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { isoTime } from '#libs/data/rules/times.js';
import type { SourceFeed } from '#libs/data/ingest/source.js';
import type { OpenVenue } from '#libs/practice/open-venue.js';
import { FollowedFeed } from '../data/followed-feed.js';
import { eventually } from '../eventually.js';
import type { MeddlingProxy } from '../network/meddling-proxy.js';

/** A feed that reads a practice venue through a proxy, and actions of traders and of the venue's operator. */
export interface VenueFeedSubject {
  readonly open: OpenVenue;
  readonly proxy: MeddlingProxy;
  /** A new feed each time. A reply may take a second and a half. */
  feed(): SourceFeed;
  market(): Promise<string>;
  /** Whether its list of markets has the traded volume of each. */
  readonly countsVolumes: boolean;
  /** Trades this many contracts of the first outcome for 0.40 each. The buyer is the taker. */
  trade(marketId: string, contracts: number): Promise<void>;
  /** Places a resting bid. Resolves with a function that cancels it. */
  bid(marketId: string, price: string): Promise<() => Promise<void>>;
  setStatus(marketId: string, status: 'halted' | 'open' | 'closed'): Promise<void>;
  resolve(marketId: string, payouts: readonly [string, string]): Promise<void>;
  /** What the venue knows of its traders and never publishes. */
  secrets(): readonly string[];
  /** The body as it was when the venue renamed its price fields. */
  renamed(body: string): string;
  /** The body as it was when the old price fields remained and were 0. */
  zeroed(body: string): string;
  /** Whether the frame reports a trade, or a change of a book. */
  isNews(frame: string, of?: 'trades' | 'books'): boolean;
  isTrades(path: string): boolean;
  isMarkets(path: string): boolean;
  close(): Promise<void>;
}

export function describeVenueFeed(name: string, create: () => Promise<VenueFeedSubject>): void {
  describe(name, () => {
    jest.setTimeout(60_000);
    let subject: VenueFeedSubject;
    let followed: FollowedFeed;
    let market: string;
    beforeAll(async () => {
      subject = await create();
    });
    afterAll(() => subject.close());
    beforeEach(async () => {
      market = await subject.market();
      await subject.trade(market, 3);
      followed = FollowedFeed.start(subject.feed());
      await eventually(() => expect(followed.isCaughtUp).toBe(true));
    });
    afterEach(async () => {
      subject.proxy.meddle({});
      await followed.stop();
    });

    /** Expects every trade of the venue exactly once, as the venue has it. */
    function expectAll(of = followed, within?: number): Promise<void> {
      return eventually(() => {
        const ours = of.trades.map(
          ({ source_id, market_id, outcome_index, price, size, side, source_ts }) =>
            `${source_id} ${market_id} ${String(outcome_index)} ${String(price)} ${String(size)} ${side ?? ''} ${isoTime(source_ts)}`,
        );
        const theirs = subject.open.venue.reads
          .tradesOfAll()
          .map(
            ({ trade_id, market_id, taker_outcome: of, taker_side: side, price, size, at }) =>
              `${trade_id} ${market_id} ${String(of)} ${String(of === 0 ? price : 1_000_000 - price)} ${String(size)} ${side} ${isoTime(at * 1_000)}`,
          );
        expect(ours.sort()).toEqual(theirs.sort());
        expect(of.conflicts).toBe(0);
      }, within);
    }

    async function expectBook(price: number, present: boolean): Promise<void> {
      await eventually(() => {
        const bids = followed.book(market)?.bids.map((level) => level.price) ?? [];
        expect(bids.includes(price)).toBe(present);
      });
    }

    async function socketOpen(): Promise<void> {
      const undo = await subject.bid(market, '0.20');
      await expectBook(200_000, true);
      await undo();
      await expectBook(200_000, false);
    }

    it('reads what was there before and what follows, and reports up to when it is complete', async () => {
      await expectAll();
      expect(followed.ofMarket(market).map(({ type }) => type)).toEqual(['MARKET', 'STATUS', 'TRADE']);
      await socketOpen();
      const before = followed.asOf;
      await subject.trade(market, 5);
      await expectAll();
      await eventually(() => expect(followed.asOf).toBeGreaterThan(before));
      await eventually(() => expect(followed.batches).toBeGreaterThan(8));
      expect([followed.quarantined, followed.repeats]).toEqual([[], 0]);
    });

    it('counts only the taker side: a match is one trade of all its contracts', () => {
      const [trade] = followed.trades.filter(({ market_id }) => market_id === market);
      expect(trade).toMatchObject({ outcome_index: 0, price: 400_000, size: 3_000_000n, side: 'buy' });
    });

    it('continues from its cursor, and loses nothing in between', async () => {
      await eventually(() => expect(followed.cursor).not.toBe(''));
      await followed.stop();
      await subject.trade(market, 7);
      const next = FollowedFeed.start(subject.feed(), followed.cursor);
      await eventually(() => expect(next.trades.some(({ size }) => size === 7_000_000n)).toBe(true));
      for (const event of followed.trades) next.take({ events: [event], cursor: '', isCaughtUp: true });
      await expectAll(next);
      await next.stop();
    });

    it('reports the volume of each market since listing, if its venue does', async () => {
      const volumes = await subject.feed().volumes?.(new AbortController().signal);
      expect(volumes?.get(market)).toBe(subject.countsVolumes ? 3_000_000n : undefined);
    });

    it('reads a time span again', async () => {
      const [trade] = followed.trades.filter(({ market_id }) => market_id === market);
      const at = trade?.source_ts ?? 0;
      const found: unknown[] = [];
      for await (const given of subject.feed().backfill(at, at, new AbortController().signal)) {
        if ('events' in given) found.push(...given.events);
      }
      expect(found).toContainEqual({ ...trade, received_at: expect.any(Number) });
      expect(found).toContainEqual(expect.objectContaining({ type: 'MARKET', market_id: market }));
    });

    it('reports that a market halts, opens, closes and pays out', async () => {
      for (const status of ['halted', 'open', 'closed'] as const) await subject.setStatus(market, status);
      await subject.resolve(market, ['0.25', '0.75']);
      await eventually(() => {
        const resolution = followed.ofMarket(market).find(({ type }) => type === 'RESOLUTION');
        expect(resolution).toMatchObject({ status: 'settled', payouts: [250_000, 750_000] });
      });
      const { changed_at = 0 } = subject.open.venue.reads.market(market) ?? {};
      expect(followed.ofMarket(market).at(-1)?.source_ts).toBe(changed_at * 1_000);
      await eventually(() => expect(followed.book(market)?.bids).toEqual([]));
    });

    it('empties the book of a market that closes, even if no frame reports it', async () => {
      await subject.bid(market, '0.20');
      await expectBook(200_000, true);
      subject.proxy.meddle({ frame: (frame) => (subject.isNews(frame, 'books') ? [] : [frame]) });
      await subject.setStatus(market, 'closed');
      await expectBook(200_000, false);
    });

    it('keeps the planned end of a market that is settled early (forecastbench 280)', async () => {
      await subject.resolve(market, ['1', '0']);
      const { changed_at = 0, terms } = subject.open.venue.reads.market(market) ?? {};
      await eventually(() => {
        const newest = followed.ofMarket(market).findLast(({ type }) => type === 'MARKET');
        expect(newest).toMatchObject({ settlement_ts: changed_at * 1_000 });
        expect(newest).toMatchObject({ expires_at: (terms?.closes_at ?? 0) * 1_000 });
      });
    });

    it('contains nothing that the venue does not publish: no order, no client order id, no account', async () => {
      await subject.bid(market, '0.10');
      await expectBook(100_000, true);
      const all = JSON.stringify([...followed.events.values(), ...followed.books], (_name, value: unknown) =>
        typeof value === 'bigint' ? value.toString() : value,
      );
      expect(subject.secrets().length).toBeGreaterThan(3);
      for (const secret of subject.secrets()) expect(all).not.toContain(secret);
      expect(followed.trades.some((trade) => 'maker' in trade || 'taker' in trade)).toBe(false);
    });

    it.each([
      ['hangs', { answers: 'hang' }],
      ['cuts its answers in the middle', { answers: 'cut' }],
      ['answers 429 with a page of HTML', { answers: { status: 429, body: '<html>slow down</html>' } }],
      ['answers 502', { answers: { status: 502, body: 'bad gateway' } }],
    ] as const)(
      'treats a venue that %s as unavailable and does not quarantine it; afterwards every trade counts once',
      async (_, how) => {
        subject.proxy.meddle(how);
        subject.proxy.cut();
        await subject.trade(market, 2);
        await eventually(() => expect(followed.faults.length).toBeGreaterThan(1));
        const { asOf } = followed;
        expect(followed.quarantined).toEqual([]);
        subject.proxy.meddle({});
        await expectAll(followed, 30_000);
        await eventually(() => expect(followed.asOf).toBeGreaterThan(asOf));
      },
    );

    it('retries an unavailable venue at growing intervals', async () => {
      subject.proxy.meddle({ answers: { status: 429, body: '<html>' } });
      subject.proxy.cut();
      await eventually(() => expect(followed.faults.length).toBeGreaterThan(1));
      const began = performance.now();
      await eventually(() => expect(followed.faults.length).toBeGreaterThan(4), 20_000);
      expect(performance.now() - began).toBeGreaterThan(1_500);
    });

    it('reads trades despite a bad list of markets, but counts as not up to date', async () => {
      await socketOpen();
      subject.proxy.meddle({ body: (body, path) => (subject.isMarkets(path) ? body.slice(1) : body) });
      await eventually(() => expect(followed.quarantined.length).toBeGreaterThan(0));
      const { asOf } = followed;
      await subject.trade(market, 13);
      await expectAll();
      await eventually(() => expect(followed.quarantined.length).toBeGreaterThan(1));
      expect(followed.asOf).toBe(asOf);
      subject.proxy.meddle({});
      await eventually(() => expect(followed.asOf).toBeGreaterThan(asOf));
    });

    it.each([
      ['garbage', (): string => 'no JSON at all'],
      ['half a body', (body: string): string => body.slice(0, body.length / 2)],
      ['prices under other names (kalshi-ai-trading-bot 41, pykalshi 4 and 5)', null],
    ] as const)(
      'quarantines %s as a whole, publishes none of it, and is not up to date meanwhile',
      async (_, spoil) => {
        await socketOpen();
        const spoilt = spoil ?? ((body: string): string => subject.renamed(body));
        subject.proxy.meddle({ body: spoilt, frame: (frame) => [spoilt(frame)] });
        const known = followed.trades.length;
        await subject.trade(market, 11);
        await eventually(() => expect(followed.quarantined.length).toBeGreaterThan(1));
        expect(followed.trades).toHaveLength(known);
        const { asOf } = followed;
        await subject.trade(market, 12);
        await eventually(() => expect(followed.quarantined.length).toBeGreaterThan(3));
        expect(followed.asOf).toBe(asOf);
        expect(followed.trades).toHaveLength(known);
        subject.proxy.meddle({});
        await expectAll();
      },
    );

    it('does not accept that all prices are 0 at once', async () => {
      for (let trade = 0; trade < 10; trade += 1) await subject.trade(market, 1);
      await expectAll();
      subject.proxy.meddle({
        body: (body) => subject.zeroed(body),
        frame: (frame) => (subject.isNews(frame) ? [] : [frame]),
      });
      const late = FollowedFeed.start(subject.feed());
      await eventually(() =>
        expect(late.quarantined).toContainEqual(
          expect.objectContaining({ quarantined: expect.stringContaining('too many prices') }),
        ),
      );
      expect(late.trades).toEqual([]);
      subject.proxy.meddle({});
      await expectAll(late);
      await late.stop();
    });

    it('counts events once that are delivered twice', async () => {
      subject.proxy.meddle({ frame: (frame) => [frame, frame] });
      subject.proxy.cut();
      await socketOpen();
      await subject.trade(market, 4);
      await subject.trade(market, 6);
      await expectAll();
      expect(followed.dropped).toBe(0);
    });

    it('does not go back when a venue shows an earlier state again', async () => {
      await socketOpen();
      const shown: string[] = [];
      let later = 0;
      const again = (body: string, path: string): string => {
        if (!subject.isTrades(path)) return body;
        const [first] = shown;
        if (first !== undefined && first !== body) later += 1;
        shown.push(body);
        return first ?? body;
      };
      const known = followed.trades.length;
      subject.proxy.meddle({ body: again, frame: (frame) => (subject.isNews(frame) ? [] : [frame]) });
      await eventually(() => expect(shown.length).toBeGreaterThan(0));
      await subject.trade(market, 8);
      await eventually(() => expect(later).toBeGreaterThan(1));
      expect(followed.trades.length).toBeGreaterThanOrEqual(known);
      subject.proxy.meddle({});
      await expectAll();
    });

    it.each(['trades', 'books'] as const)(
      'notices an open socket that answers pings and sends nothing of %s (py-clob-client 292, nautilus 4298)',
      async (what) => {
        await socketOpen();
        const { opened } = subject.proxy;
        subject.proxy.meddle({ frame: (frame) => (subject.isNews(frame, what) ? [] : [frame]) });
        await subject.trade(market, 9);
        await expectAll();
        if (what === 'books') {
          await subject.bid(market, '0.30');
          await expectBook(300_000, true);
        }
        await eventually(() => expect(subject.proxy.opened).toBeGreaterThan(opened));
        subject.proxy.meddle({});
        await subject.trade(market, 10);
        await expectAll();
      },
    );

    it('makes no wrong book when a change of a book is lost', async () => {
      await socketOpen();
      let lost = 0;
      subject.proxy.meddle({
        frame: (frame) => {
          const isLost = lost === 0 && subject.isNews(frame, 'books');
          lost += isLost ? 1 : 0;
          return isLost ? [] : [frame];
        },
      });
      await subject.bid(market, '0.20');
      await subject.bid(market, '0.21');
      await eventually(() => {
        expect(lost).toBe(1);
        expect(followed.book(market)?.bids.map(({ price }) => price)).toEqual([210_000, 200_000]);
      });
      expect(followed.dropped).toBe(0);
    });

    it('learns soon of a new market, and subscribes to it', async () => {
      await socketOpen();
      const made = await subject.market();
      await subject.trade(made, 2);
      await eventually(
        () => expect(followed.ofMarket(made).map(({ type }) => type)).toContain('MARKET'),
        1_500,
      );
      await eventually(() => expect(followed.book(made)).toBeDefined());
    });

    it('loses nothing between two connections', async () => {
      await socketOpen();
      for (let trade = 0; trade < 12; trade += 1) {
        await subject.trade(market, 1);
        if (trade % 3 === 0) subject.proxy.cut();
      }
      await expectAll();
    });

    it('sends heartbeats for books of a quiet market', async () => {
      const undo = await subject.bid(market, '0.20');
      await expectBook(200_000, true);
      const first = followed.book(market);
      await eventually(() => {
        const { sequence = 0n, source_ts = 0 } = followed.book(market) ?? {};
        expect(sequence).toBeGreaterThan(first?.sequence ?? 0n);
        expect(source_ts).toBeGreaterThan(first?.source_ts ?? 0);
      });
      expect(followed.book(market)?.bids).toEqual(first?.bids);
      expect(followed.dropped).toBe(0);
      await undo();
    });
  });
}
