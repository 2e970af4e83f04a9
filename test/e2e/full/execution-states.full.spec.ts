import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { startCluster, type OwnedCluster } from '#libs/testing/cluster/cluster.js';
import { eventually } from '#libs/testing/eventually.js';
import { StreamClient } from '#libs/client/stream-client.js';
import type { AuctionJson } from '#libs/client/wire.js';
import { ServiceRecords } from '../books.js';
import { auctionBody, kinds, mustBe, TradingFloor, type Trader } from '../trading-floor.js';

jest.setTimeout(60_000);

/** The shortest deadline for an execution. */
const DEADLINE_MS = 5_000;

interface Audited {
  readonly ranking: readonly { readonly reason: string }[];
}

let cluster: OwnedCluster;
let floor: TradingFloor;
let books: ServiceRecords;
let originator: Trader;
let [whole, part]: Trader[] = [];

beforeAll(async () => {
  cluster = await startCluster({ env: { LIMITS_FACTOR: '50' } });
  floor = new TradingFloor(cluster);
  books = new ServiceRecords(cluster);
  [originator, whole, part] = (await floor.traders('originator-1', 'maker-1', 'maker-2')) as [
    Trader,
    Trader,
    Trader,
  ];
}, 90_000);

afterAll(async () => {
  floor.close();
  await books.close();
  await cluster.stop();
});

/** Ten contracts: six go to one maker, and four of the other's five. */
async function awarded(): Promise<AuctionJson> {
  const body = auctionBody(floor.contract('venue_a', 1), [whole!, part!], {
    allocation: 'SPLIT',
    duration_ms: 1_500,
    execution_deadline_ms: DEADLINE_MS,
  });
  const auction = await originator.opens(body);
  await whole!.quotes(auction.auction_id, 400_000, 6);
  await part!.quotes(auction.auction_id, 410_000, 5);
  return auction;
}

async function statusOf(maker: Trader, id: string): Promise<[string, string | undefined, string]> {
  const view = await maker.view(id);
  const [quote] = await maker.myQuotes(id);
  return [view.status, view.award?.execution_status, quote!.status];
}

/** A stream with all events of the account from now on. */
async function listener(name: string): Promise<StreamClient> {
  const body = { email: `${name}@demo.sotto`, password: cluster.file.demo.password };
  const issued = await floor.anybody.send<{ access_token: string }>('POST', '/auth/login', { body });
  const client = await StreamClient.open(cluster.gatewayUrl, { token: mustBe(200, issued).access_token });
  await client.hello();
  await client.subscribe();
  return client;
}

/** The maker has nothing to settle with until `mended`. */
async function impoverished(maker: Trader): Promise<() => Promise<unknown>> {
  const where = `account_id = '${maker.accountId}' and venue = 'venue_a'`;
  const kept = await books.rows<{ asset: string; amount: string }>(
    `select asset, amount::text from custody.balances where ${where}`,
  );
  await books.rows(`update custody.balances set amount = 0 where ${where}`);
  return () =>
    Promise.all(
      kept.map(({ asset, amount }) =>
        books.rows(`update custody.balances set amount = $1 where ${where} and asset = $2`, [amount, asset]),
      ),
    );
}

describe('an award', () => {
  it('is PENDING until a settler takes it, SUBMITTED until it is settled, then CONFIRMED', async () => {
    const pid = cluster.kill('settler', 'SIGSTOP');
    const { auction_id: id } = await awarded();
    await originator.until(id, 'AWARDED');
    expect(await statusOf(whole!, id)).toEqual(['AWARDED', 'PENDING', 'AWARDED']);
    expect(await statusOf(part!, id)).toEqual(['AWARDED', 'PENDING', 'PARTIALLY_AWARDED']);
    expect((await originator.myQuotes(id)).map(({ status }) => status)).toEqual([
      'AWARDED',
      'PARTIALLY_AWARDED',
    ]);
    await books.whileLocked('custody.balances', async () => {
      process.kill(pid, 'SIGCONT');
      await eventually(async () => expect((await statusOf(whole!, id))[1]).toBe('SUBMITTED'));
      expect((await originator.view(id)).status).toBe('EXECUTING');
    });
    await originator.until(id, 'SETTLED');
    expect(await statusOf(whole!, id)).toEqual(['SETTLED', 'CONFIRMED', 'SETTLED']);
  });

  it('is tried again while it cannot be settled, and fails at its deadline', async () => {
    const mend = await impoverished(part!);
    const { auction_id: id } = await awarded();
    const listening = await listener('maker-2');
    await originator.until(id, 'PARTIALLY_SETTLED');
    expect(await statusOf(part!, id)).toEqual(['EXECUTION_FAILED', 'FAILED', 'FAILED']);
    expect(await statusOf(whole!, id)).toEqual(['SETTLED', 'CONFIRMED', 'SETTLED']);
    expect((await originator.myQuotes(id)).map(({ status }) => status)).toEqual(['SETTLED', 'FAILED']);
    const told = ['EXECUTION_RETRYING', 'EXECUTION_FAILED'];
    expect(kinds(await part!.timeline(id))).toEqual(expect.arrayContaining(told));
    const heard = listening.frames.flatMap((frame) => (frame.type === 'event' ? [frame.kind] : []));
    expect(heard).toEqual(expect.arrayContaining(told));
    await listening.bye();
    await mend();
  });

  it('that fails alone fails the auction', async () => {
    const mend = await impoverished(originator);
    const { auction_id: id } = await awarded();
    const view = await originator.until(id, 'EXECUTION_FAILED');
    expect(view.award?.awards?.map((award) => award.execution_status)).toEqual(['FAILED', 'FAILED']);
    await mend();
    const auditor = await floor.trader('auditor-1');
    await eventually(async () => {
      const page = mustBe(
        200,
        await auditor.api.get<{ auctions: { status: string }[] }>('/v1/audit/auctions'),
      );
      const statuses = page.auctions.map(({ status }) => status).sort();
      expect(statuses).toEqual(['EXECUTION_FAILED', 'PARTIALLY_SETTLED', 'SETTLED']);
    });
  });
});

describe('the ranking', () => {
  it('says for each quote why it won nothing', async () => {
    const third = await floor.trader('maker-3');
    const all = [whole!, part!, third];
    const contract = floor.contract('venue_a', 2);
    const terms = { duration_ms: 2_000, quote_revision_policy: 'IMPROVE_ONLY' };
    const alone = await originator.opens(
      auctionBody(contract, all, { ...terms, result_disclosure: 'WINNING_PRICE' }),
    );
    const ladder = await originator.opens(
      auctionBody(contract, all, {
        ...terms,
        quote_revision_policy: 'FREE',
        allocation: 'SPLIT',
        max_winners: 2,
        result_disclosure: 'WINNING_PRICE_AND_RANK',
      }),
    );
    await whole!.quotes(alone.auction_id, 400_000, 5);
    await part!.quotes(alone.auction_id, 410_000, 10);
    expect(await whole!.view(alone.auction_id)).toMatchObject({ quote_revision_policy: 'IMPROVE_ONLY' });
    const expires = new Date(Date.now() + 600_000).toISOString().replace('Z', '000000Z');
    for (const [at, maker] of all.entries()) {
      await maker.quotes(ladder.auction_id, 400_000 + at * 10_000, 2, { expires_at: expires });
    }
    await originator.until(alone.auction_id, 'SETTLED');
    await originator.until(ladder.auction_id, 'SETTLED');
    expect((await originator.myQuotes(ladder.auction_id)).map((quote) => quote.expires_at)).toEqual([
      expires,
      expires,
    ]);
    const auditor = await floor.trader('auditor-1');
    const reasons = async (id: string): Promise<string[]> => {
      const read = await eventually(async () =>
        mustBe(200, await auditor.api.get<Audited>(`/v1/audit/auctions/${id}`)),
      );
      return read.ranking.map(({ reason }) => reason);
    };
    expect(await reasons(alone.auction_id)).toEqual(['BELOW_MINIMUM_FILL', 'AWARDED']);
    expect(await reasons(ladder.auction_id)).toEqual(['AWARDED', 'AWARDED', 'MAX_WINNERS_REACHED']);
  });
});

describe('a gateway', () => {
  it('is not ready without the control schema, or without any owner', async () => {
    const status = async (): Promise<string> =>
      (await floor.anybody.get<{ status: string }>('/readyz')).body.status;
    await books.whileLocked('control.version', async () => {
      await eventually(async () => expect(await status()).toBe('control_schema_unreachable'));
    });
    const owners = ['owner-0', 'owner-1', 'owner-2'];
    const pids = owners.map((name) => cluster.kill(name));
    await eventually(async () => expect(await status()).toBe('owners_unreachable'), 10_000);
    await Promise.all(owners.map((name, at) => cluster.restartOf(name, pids[at]!)));
    await eventually(async () => expect(await status()).toBe('ready'));
  });
});
