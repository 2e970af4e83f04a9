import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { homeShard } from '#libs/auction/protocol/routing.js';
import { OperatorFloor, type ShardRowJson } from '../operator-floor.js';
import { auctionBody, CONTRACT, mustBe, verdict, type Trader } from '../trading-floor.js';

let ops: OperatorFloor;
let operator: Trader;
let originator: Trader;
let makers: readonly [Trader, Trader];

beforeAll(async () => {
  ops = await OperatorFloor.open();
  ({ operator, originator, makers } = ops);
}, 90_000);

afterEach(() => ops.liftAll());

afterAll(() => ops.close());

describe('a drain', () => {
  it('refuses creates of its shard and nothing else, until it is undone', async () => {
    // The originator's home shard, which its preflight asks.
    const shard = homeShard(originator.accountId);
    const elsewhere = (shard + 1) % 3;
    const [maker] = makers;
    const plain = auctionBody(ops.floor.contract('venue_a'), makers);
    const firstKey = ops.keyTo(shard);
    const first = mustBe(201, await originator.create(plain, firstKey));
    const other = await ops.opensOn(shard);
    const quote = await maker.quotes(first.auction_id, 500_000, 2);
    const before = await ops.rowOf(shard);
    expect(before).toEqual({
      shard,
      state: 'ACTIVE',
      epoch: expect.any(Number),
      journal_head: expect.any(Number),
      projection_lag_events: expect.any(Number),
      active_auctions: expect.any(Number),
      clock_offset_ms: expect.any(Number),
      recovery: { events: expect.any(Number), ms: expect.any(Number) },
    });

    const drained = mustBe(
      200,
      await ops.post<ShardRowJson>(`shards/${shard}/drain`, { reason: 'new disk' }),
    );
    expect([drained.shard, drained.state]).toEqual([shard, 'DRAINING']);
    expect((await ops.rowOf(elsewhere)).state).toBe('ACTIVE');
    const { health_url: health } = ops.cluster.process(`owner-${shard}`);
    const asked = await Promise.all([fetch(health), fetch(health.replace('/healthz', '/readyz'))]);
    expect(asked.map(({ status }) => status)).toEqual([200, 503]);
    expect(await asked[1].json()).toEqual({ status: 'draining' });

    const here = await originator.create(plain, ops.keyTo(shard));
    expect([here.status, here.body]).toEqual([503, { error: 'auction_owner_unavailable' }]);
    expect(await ops.creating(plain, ops.keyTo(elsewhere))).toBe('201');
    expect((await originator.create(plain, firstKey)).status).toBe(200);
    expect(verdict(await originator.preflightCreate(plain))).toBe('500 internal_error');
    expect(verdict(await maker.preflightQuote(first.auction_id, 500_000, CONTRACT))).toBe('200');
    const revised = mustBe(200, await maker.revise(quote, { price_atoms: 490_000 }));
    await makers[1].quotes(first.auction_id, 480_000, 1);
    expect(mustBe(200, await maker.withdraw(revised)).status).toBe('WITHDRAWN');
    expect(mustBe(200, await originator.cancel(other.auction_id)).status).toBe('CANCELLED');
    // Repeated, it gets the same answer; it is recorded once.
    expect(mustBe(200, await ops.post<ShardRowJson>(`shards/${shard}/drain`, {})).state).toBe('DRAINING');

    const resumed = mustBe(200, await ops.post<ShardRowJson>(`shards/${shard}/resume`, {}));
    expect(resumed.state).toBe('ACTIVE');
    expect(resumed.journal_head!).toBeGreaterThan(before.journal_head!);
    expect(await ops.creating(plain, ops.keyTo(shard))).toBe('201');
    expect((await fetch(health.replace('/healthz', '/readyz'))).status).toBe(200);
    mustBe(200, await originator.cancel(first.auction_id));

    const journaled = await ops.books.rows<{ payload: string }>(
      `select payload from journal.records
       where shard = $1 and sequence > $2 and payload ~ 'SHARD_(DRAINED|RESUMED)' order by sequence`,
      [shard, before.journal_head],
    );
    expect(journaled).toHaveLength(2);
    for (const { payload } of journaled) expect(payload).toContain(operator.accountId);
    expect(journaled[0]!.payload).toContain('new disk');
  });
});

describe('a halt of the whole service, or of a venue', () => {
  it.each([
    ['GLOBAL', undefined, '422 SERVICE_HALTED'],
    ['VENUE', 'venue_a', '422 VENUE_HALTED'],
  ])('of scope %s refuses creates and quotes, voids nothing, and ends when it is lifted', async (...row) => {
    const [scope, target, refusal] = row;
    const body = auctionBody(ops.floor.contract('venue_a'), makers);
    const { auction_id: id } = await originator.opens(body);
    const quote = await makers[0].quotes(id, 500_000, 1);
    const halt = await ops.imposes({ scope, ...(target === undefined ? {} : { target }) });
    expect([await ops.creating(body), await ops.quoting(makers[1], id)]).toEqual([refusal, refusal]);
    expect((await originator.view(id)).status).toBe('OPEN');
    expect((await makers[0].withdraw(quote)).body.status).toBe('WITHDRAWN');
    await ops.lifts(halt);
    expect([await ops.creating(body), await ops.quoting(makers[1], id)]).toEqual(['201', '201']);
    mustBe(200, await originator.cancel(id));
  });
});
