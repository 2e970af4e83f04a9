import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import type { ApiAnswer } from '#libs/client/api-client.js';
import { eventually } from '#libs/testing/eventually.js';
import type { AuctionJson } from '#libs/client/wire.js';
import { StreamFloor } from '../stream-floor.js';
import { auctionBody, CONTRACT, mustBe, plainFloor, type Trader, verdict } from '../trading-floor.js';

const LIMITED = '429 auction_mutation_rate_limited';

interface Bucket {
  readonly bucket: string;
  readonly scope: string;
  readonly rate_per_second: number;
  readonly burst: number;
  readonly available?: number;
}

jest.setTimeout(20_000);

let floor: StreamFloor;
let maker: Trader;

beforeAll(async () => {
  floor = new StreamFloor((await plainFloor()).cluster);
  maker = await floor.trader('maker-1');
}, 60_000);

afterAll(() => floor.end());

function body(): Readonly<Record<string, unknown>> {
  return auctionBody(floor.contract('venue_a', 1), [maker], { duration_ms: 30_000 });
}

function times<T>(count: number, act: (index: number) => Promise<T>): Promise<T[]> {
  return Promise.all(Array.from({ length: count }, (_, index) => act(index)));
}

async function limits(trader: Trader): Promise<Map<string, Bucket>> {
  const { buckets } = mustBe(200, await trader.api.get<{ buckets: Bucket[] }>('/v1/me/limits'));
  return new Map(buckets.map((bucket) => [bucket.bucket, bucket]));
}

function limited(answers: readonly ApiAnswer<unknown>[]): number {
  return answers.filter((answer) => verdict(answer) === LIMITED).length;
}

describe('creates', () => {
  it('have a burst of four over all shards: the fifth is refused, and may be repeated with its key', async () => {
    const originator = await floor.trader('originator-1');
    const keys = Array.from({ length: 5 }, () => randomUUID());
    const answers = await times(5, (index) => originator.create(body(), keys[index]));
    expect(answers.map(verdict).sort()).toEqual(['201', '201', '201', '201', LIMITED]);
    const shards = answers.filter(({ status }) => status === 201).map(({ body: view }) => view.auction_id[0]);
    expect(shards).toHaveLength(4);
    const refused = answers.findIndex(({ status }) => status === 429);
    expect(answers[refused]!.body).toEqual({ error: 'auction_mutation_rate_limited' });
    const names = answers[refused]!.headerNames.map((name) => name.toLowerCase());
    expect(names.filter((name) => name === 'retry-after' || name.startsWith('x-ratelimit'))).toEqual([]);
    await eventually(async () => mustBe(201, await originator.create(body(), keys[refused])));
  });

  it('refill at two a second, separately for each account', async () => {
    const [first, second] = (await floor.traders('originator-2', 'originator-3')) as [Trader, Trader];
    const began = performance.now();
    const answers: ApiAnswer<AuctionJson>[] = [];
    while (performance.now() - began < 2_500) answers.push(...(await times(4, () => first.create(body()))));
    const seconds = (performance.now() - began) / 1_000;
    const opened = answers.filter(({ status }) => status === 201).length;
    expect(opened).toBeGreaterThanOrEqual(4 + 4);
    expect(opened).toBeLessThanOrEqual(4 + Math.ceil(2 * seconds));
    expect((await second.create(body())).status).toBe(201);
  });

  it('that are repeated cost nothing', async () => {
    const originator = await floor.trader('originator-3');
    const key = randomUUID();
    await eventually(async () => mustBe(201, await originator.create(body(), key)));
    const repeats = await times(40, () => originator.create(body(), key));
    expect(new Set(repeats.map(verdict))).toEqual(new Set(['200']));
  });
});

describe('the buckets of an account', () => {
  it('are shown with their present state', async () => {
    const shown = await limits(await floor.trader('maker-8'));
    const account = (bucket: string, rate: number, burst: number): Bucket => ({
      ...{ bucket, scope: 'ACCOUNT', rate_per_second: rate, burst },
      available: burst,
    });
    expect([...shown.values()]).toEqual([
      account('create', 2, 4),
      account('cancel', 5, 10),
      account('quote', 50, 100),
      account('withdraw', 100, 500),
      { bucket: 'quote_per_auction', scope: 'ACCOUNT_AND_AUCTION', rate_per_second: 10, burst: 20 },
    ]);
  });

  it('allow ten cancels at once', async () => {
    const originator = await floor.trader('originator-1');
    const opened = await eventually(() => originator.opens(body()));
    await originator.cancel(opened.auction_id);
    const answers = await times(16, () => originator.cancel(opened.auction_id));
    expect(new Set(answers.map(verdict))).toEqual(new Set(['422 AUCTION_NOT_OPEN', LIMITED]));
    expect(16 - limited(answers)).toBeGreaterThanOrEqual(9);
    expect(16 - limited(answers)).toBeLessThanOrEqual(12);
  });

  it('are shared by commands over streams and HTTP', async () => {
    const [by, quoting] = (await floor.traders('originator-2', 'maker-7')) as [Trader, Trader];
    const [, burst, rate] = ['cancel', 10, 5] as const;
    const body = auctionBody(floor.contract('venue_e', 3), [quoting]);
    const { auction_id: id } = await eventually(() => by.opens(body));
    await by.cancel(id);
    const client = await floor.listen('originator-2', {}, { gateway: 1 });
    const since = performance.now();
    const streamed = Array.from({ length: burst }, () =>
      client.command('auction.cancel', { auction_id: id }),
    );
    const posted = Array.from({ length: burst }, () => by.cancel(id));
    const statuses = [
      ...(await Promise.all(streamed)).map(({ status }) => status),
      ...(await Promise.all(posted)).map(({ status }) => status),
    ];
    const refilled = ((performance.now() - since) / 1_000) * rate;
    const passed = statuses.filter((status) => status === 422);
    expect(new Set(statuses)).toEqual(new Set([422, 429]));
    expect(passed.length).toBeLessThanOrEqual(burst + Math.ceil(refilled));
    // Both ways share one bucket, so both were refused; which one was served does not matter.
    const refused = await Promise.all([client.command('auction.cancel', { auction_id: id }), by.cancel(id)]);
    expect(refused.map(({ status }) => status)).toContain(429);
  });

  it('count a withdraw-all as one', async () => {
    const originator = await floor.trader('originator-3');
    const other = await floor.trader('maker-4');
    const audience = { market_maker_ids: [other.accountId] };
    for (let count = 0; count < 3; count += 1) {
      const { auction_id: id } = await eventually(() => originator.opens({ ...body(), audience }));
      await other.quotes(id, 500_000, 1);
    }
    expect((await limits(other)).get('withdraw')!.available).toBe(500);
    const answer = await other.api.post<{ withdrawn: string[] }>('/v1/quotes/withdraw-all', {});
    expect(answer.body.withdrawn).toHaveLength(3);
    const { available } = (await limits(other)).get('withdraw')!;
    expect(available).toBeGreaterThanOrEqual(499);
  });
});

describe('submits and revisions', () => {
  it('have a burst of twenty for an account and auction, whatever their outcome', async () => {
    const originator = await floor.trader('originator-2');
    const second = await floor.trader('maker-2');
    const audience = { market_maker_ids: [maker.accountId, second.accountId] };
    const open = (): Promise<AuctionJson> => eventually(() => originator.opens({ ...body(), audience }));
    const [one, two] = [await open(), await open()];
    const submit = (id: string): Promise<ApiAnswer<unknown>> =>
      maker.submit(id, { price_atoms: 500_000, quantity_atoms: CONTRACT });
    const began = performance.now();
    const answers = await times(40, () => submit(one.auction_id));
    const seconds = (performance.now() - began) / 1_000;
    expect(new Set(answers.map(verdict))).toEqual(new Set(['201', '409 quote_already_active', LIMITED]));
    const through = answers.length - limited(answers);
    expect(through).toBeGreaterThanOrEqual(20);
    expect(through).toBeLessThanOrEqual(20 + Math.ceil(10 * seconds));
    // Another auction, and another maker in this one, have their own buckets; withdrawals are metered separately.
    expect(verdict(await submit(two.auction_id))).toBe('201');
    expect(
      verdict(await second.submit(one.auction_id, { price_atoms: 500_000, quantity_atoms: CONTRACT })),
    ).toBe('201');
    const [standing] = await maker.myQuotes(one.auction_id);
    expect(verdict(await maker.withdraw(standing!))).toBe('200');
  });

  it('leave reads and preflights unmetered', async () => {
    const originator = await floor.trader('originator-1');
    const opened = await eventually(() => originator.opens(body()));
    const answers: ApiAnswer<unknown>[] = [
      ...(await times(60, () => maker.get(opened.auction_id))),
      ...(await times(60, () => maker.preflightQuote(opened.auction_id, 500_000, CONTRACT))),
      ...(await times(60, () => originator.preflightCreate(body()))),
    ];
    expect(new Set(answers.map(verdict))).toEqual(new Set(['200']));
  });
});

describe('the limits of a maker', () => {
  it('apply to revisions, withdrawals and a withdraw-all', async () => {
    const [opener, quoter] = (await floor.traders('originator-1', 'maker-3')) as [Trader, Trader];
    const opened = await eventually(() => opener.opens(auctionBody(floor.contract('venue_a', 1), [quoter])));
    const standing = await quoter.quotes(opened.auction_id, 500_000, 1);
    const every = <Body>(count: number, act: () => Promise<ApiAnswer<Body>>): Promise<string[]> =>
      Promise.all(Array.from({ length: count }, async () => verdict(await act())));
    const stale = { ...standing, revision: 9 };
    const revisions = await every(40, () => quoter.revise(stale, { price_atoms: 490_000 }));
    expect(new Set(revisions)).toEqual(
      new Set(['409 quote_revision_conflict', '429 auction_mutation_rate_limited']),
    );
    const withdrawals = await every(800, () => quoter.withdraw(stale, { expected_revision: 9 }));
    expect(withdrawals).toContain('429 auction_mutation_rate_limited');
    const all = await every(60, () => quoter.api.post('/v1/quotes/withdraw-all', { auction_ids: [] }));
    expect(all).toContain('429 auction_mutation_rate_limited');
    await opener.cancel(opened.auction_id);
  });
});
