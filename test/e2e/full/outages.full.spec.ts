import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { createHash, randomUUID } from 'node:crypto';
import { eventually } from '#libs/testing/eventually.js';
import type { AuctionJson } from '#libs/client/wire.js';
import { ServiceRecords } from '../books.js';
import {
  auctionBody,
  CONTRACT,
  mustBe,
  plainFloor,
  type Trader,
  type TradingFloor,
  verdict,
} from '../trading-floor.js';

const OWNER_AWAY = '503 auction_owner_unavailable';

jest.setTimeout(40_000);

let floor: TradingFloor;
let books: ServiceRecords;
let originator: Trader;
let maker: Trader;
let mend: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  floor = await plainFloor();
  books = new ServiceRecords(floor.cluster);
  [originator, maker] = (await floor.traders('originator-3', 'maker-5')) as [Trader, Trader];
}, 60_000);

afterEach(async () => {
  for (const step of mend.reverse()) await step();
  mend = [];
});

afterAll(async () => {
  await books.close();
  await floor.end();
});

function body(millis = 60_000): Readonly<Record<string, unknown>> {
  return auctionBody(floor.contract('venue_e', 2), [maker], { duration_ms: millis });
}

function shardOf(...parts: string[]): number {
  const hash = createHash('sha256').update(parts.join('\0')).digest();
  return Number(hash.readBigUInt64BE() % 3n);
}

/** A key that leads the originator's create to this owner, as the contract defines it. */
function keyFor(shard: number): string {
  for (;;) {
    const key = randomUUID();
    if (shardOf(originator.accountId, key) === shard) return key;
  }
}

/** The bucket of creates is small, so this waits for a token. */
function opensAt(shard: number, millis?: number): Promise<AuctionJson> {
  const key = keyFor(shard);
  return eventually(async () => {
    const answer = await originator.create(body(millis), key);
    return mustBe(answer.status === 200 ? 200 : 201, answer);
  });
}

function freeze(name: string): void {
  const pid = floor.cluster.kill(name, 'SIGSTOP');
  mend.push(() => {
    process.kill(pid, 'SIGCONT');
    return eventually(async () => {
      const { status } = await fetch(floor.cluster.process(name).health_url.replace('/healthz', '/readyz'));
      if (status !== 200) throw new Error(`${name} is ${status}`);
    });
  });
}

describe('an owner that does not answer', () => {
  it('fails its own commands and complete lists, and nothing else', async () => {
    const away = shardOf(originator.accountId);
    const there = (away + 1) % 3;
    const [lost, fine] = [await opensAt(away), await opensAt(there)];
    expect([lost, fine].map(({ auction_id: id }) => id[0])).toEqual([String(away), String(there)]);
    const quote = await maker.quotes(lost.auction_id, 500_000, 1);
    await maker.quotes(fine.auction_id, 500_000, 1);
    freeze(`owner-${away}`);
    const [key, createKey] = [randomUUID(), keyFor(away)];
    const terms = { price_atoms: 500_000, quantity_atoms: CONTRACT };
    const answers = await Promise.all([
      originator.get(lost.auction_id),
      originator.api.get(`/v1/auctions/${lost.auction_id}/events`),
      originator.api.get('/v1/auctions'),
      maker.submit(lost.auction_id, terms),
      maker.preflightQuote(lost.auction_id, 500_000, CONTRACT),
      originator.create(body(), createKey),
    ]);
    expect(answers.map(verdict)).toEqual(answers.map(() => OWNER_AWAY));
    // Its home owner cannot check the account, and this path has no 503.
    expect(verdict(await originator.preflightCreate(body()))).toBe('500 internal_error');
    expect((await originator.get(fine.auction_id)).status).toBe(200);
    expect((await floor.anybody.get('/readyz')).status).toBe(200);

    const some = mustBe(
      200,
      await maker.api.post<{ withdrawn: string[]; shards: object[] }>('/v1/quotes/withdraw-all', {}, key),
    );
    expect(some.withdrawn).toHaveLength(1);
    expect(some.shards).toContainEqual({ shard: there, status: 'DONE' });
    expect(some.shards).not.toContainEqual({ shard: away, status: 'DONE' });

    await mend.pop()!();
    const all = mustBe(
      200,
      await maker.api.post<{ withdrawn: string[] }>('/v1/quotes/withdraw-all', {}, key),
    );
    expect([...all.withdrawn].sort()).toEqual([...some.withdrawn, quote.quote_id].sort());
    // The create may have succeeded when its owner went on: then this is its repeat.
    const created = await eventually(async () => {
      const answer = await originator.create(body(), createKey);
      return mustBe(answer.status === 200 ? 200 : 201, answer);
    });
    const listed = mustBe(200, await originator.api.get<{ auctions: AuctionJson[] }>('/v1/auctions'));
    expect(listed.auctions.filter(({ auction_id: id }) => id === created.auction_id)).toHaveLength(1);
  });
});

describe('projections that lag', () => {
  it('stop creates and nothing else, until they have caught up', async () => {
    const opened = await opensAt(0);
    const key = randomUUID();
    const first = await eventually(async () => mustBe(201, await originator.create(body(), key)));
    freeze('projector');
    await eventually(async () => {
      const answer = await originator.create(body());
      expect(verdict(answer)).toBe('503 projection_backlog');
      expect(answer.body).toEqual({ error: 'projection_backlog' });
    }, 15_000);
    const quote = await maker.quotes(opened.auction_id, 500_000, 1);
    expect((await maker.withdraw(quote)).status).toBe(200);
    expect((await originator.create(body(), key)).body).toEqual(first);
    expect((await originator.preflightCreate(body())).status).toBe(200);
    await mend.pop()!();
    await eventually(async () => mustBe(201, await originator.create(body())));
  });
});

describe('completed auctions', () => {
  async function completed(): Promise<string> {
    const { auction_id: id } = await opensAt(1, 1_000);
    await originator.until(id, 'NO_AWARD');
    await originator.untilCompletedRead(id);
    return id;
  }

  it('cannot be read without the projection, and no page is shortened for that', async () => {
    const id = await completed();
    const live = await opensAt(0);
    mend.push(() => books.rows('alter schema completed_away rename to completed'));
    await books.rows('alter schema completed rename to completed_away');
    const answers = await Promise.all([
      originator.get(id),
      originator.api.get('/v1/auctions'),
      originator.api.get(`/v1/auctions/${randomUUID().replace(/^./, '1')}`),
    ]);
    expect(answers.map(verdict)).toEqual(answers.map(() => '503 completed_projection_unavailable'));
    expect((await originator.get(live.auction_id)).status).toBe(200);
    await mend.pop()!();
    await eventually(async () => expect((await originator.get(id)).status).toBe(200));
  });

  it('have no timeline at all if their history has a gap', async () => {
    const id = await completed();
    const kept = await books.rows<{ row: string }>(
      `with gone as (
         delete from auction_history.events where (auction_id, sequence) = (
           select auction_id, sequence from auction_history.events where auction_id = $1 order by sequence offset 1 limit 1)
         returning *)
       select to_jsonb(gone)::text as row from gone`,
      [id],
    );
    mend.push(() =>
      books.rows(
        'insert into auction_history.events select * from jsonb_populate_record(null::auction_history.events, $1)',
        [kept[0]!.row],
      ),
    );
    for (const accept of ['application/json', 'application/x-ndjson']) {
      // Until the owner has forgotten the auction, it serves the timeline from its own journal.
      await eventually(async () => {
        const answer = await originator.api.get(`/v1/auctions/${id}/events`, { accept });
        expect([verdict(answer), answer.text]).toEqual([
          '503 audit_timeline_incomplete',
          '{"error":"audit_timeline_incomplete"}',
        ]);
      });
    }
    await mend.pop()!();
    expect(await originator.timeline(id)).toHaveLength(4);
  });
});
