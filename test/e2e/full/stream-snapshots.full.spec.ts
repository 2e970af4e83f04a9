import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { startCluster } from '#libs/testing/cluster/cluster.js';
import type { StreamClient } from '#libs/client/stream-client.js';
import type { AuctionJson } from '#libs/client/wire.js';
import { StreamFloor } from '../stream-floor.js';
import { faultsIn, timelinesOf, untilTold } from '../stream-record.js';
import { auctionBody, mustBe, type Trader } from '../trading-floor.js';

const SNAPSHOT_PART = 200;
const MANY = 2 * SNAPSHOT_PART + 30;

jest.setTimeout(90_000);

let floor: StreamFloor;
let originator: Trader;
let busy: Trader;
const opened: AuctionJson[] = [];

beforeAll(async () => {
  const env = { GATEWAYS: '2', LIMITS_FACTOR: '50', LOAD_ACCOUNTS: 'makers:1,originators:1' };
  floor = new StreamFloor(await startCluster({ env }));
  [originator, busy] = await floor.newTraders('originator', 'maker');
}, 60_000);

afterAll(() => floor.end());

async function opens(by: Trader, makers: readonly Trader[], differing: object = {}): Promise<AuctionJson> {
  const body = auctionBody(floor.contract('venue_c', 0), makers, { duration_ms: 600_000, ...differing });
  let answer = await by.create({ ...body, quantity_atoms: 1_000_000 });
  // A fast machine meets the limit on creates.
  for (; answer.status === 429; answer = await by.create({ ...body, quantity_atoms: 1_000_000 }))
    await sleep(50);
  const view = mustBe(201, answer);
  if (by === originator) opened.push(view);
  return view;
}

/** All live auctions of the list, newest first. */
async function listed(trader: Trader): Promise<AuctionJson[]> {
  const views: AuctionJson[] = [];
  for (let cursor = ''; ;) {
    const path = `/v1/auctions?limit=50${cursor}`;
    const page = mustBe(200, await trader.api.get<{ auctions: AuctionJson[]; next_cursor?: string }>(path));
    const live = page.auctions.filter(({ phase }) => phase === 'LIVE');
    views.push(...live);
    if (page.next_cursor === undefined || live.length < page.auctions.length) return views;
    cursor = `&cursor=${page.next_cursor}`;
  }
}

describe('more auctions than one snapshot message holds', () => {
  const FEW = 3;
  let live: AuctionJson[];

  beforeAll(async () => {
    const rounds = Math.ceil(MANY / 10);
    for (let round = 0; round < rounds; round += 1)
      await Promise.all(Array.from({ length: 10 }, () => opens(originator, [busy])));
    live = await listed(busy);
  });

  it('come in parts of at most 200, newest first, and equal the list', async () => {
    expect(live.length).toBeGreaterThanOrEqual(MANY);
    const client = await floor.listen(busy.name, {}, { gateway: 1 });
    const id = await client.subscribe();
    const parts = client.frames.flatMap((frame) => (frame.type === 'snapshot' ? [frame] : []));
    expect(parts.map(({ auctions }) => auctions.length)).toEqual([
      SNAPSHOT_PART,
      SNAPSHOT_PART,
      live.length - 2 * SNAPSHOT_PART,
    ]);
    expect(parts.map(({ more }) => more)).toEqual([true, true, false]);
    expect(parts.every(({ resume_token: token }) => token.length > 0)).toBe(true);
    expect(client.memory.of(id).snapshots[0]!.auctions).toEqual(live);
  });

  it('start with a new snapshot on a stream that is cut off in the middle and resumes', async () => {
    const client = await floor.listen(busy.name);
    const id = await client.subscribe();
    const { resume_token: first } = await client.untilType('snapshot');
    client.kill();
    const again = await floor.open({ token: await floor.token(busy.name), gateway: 1 });
    expect(await again.hello({ resume_token: first })).toMatchObject({
      resumed: true,
      subscriptions: [{ subscription_id: id, channel: 'auctions' }],
    });
    await again.untilIt(() => again.memory.of(id).snapshots.length > 0, 'the snapshot');
    const { resyncs, snapshots } = again.memory.of(id);
    expect(resyncs).toEqual(['SNAPSHOT_INCOMPLETE']);
    expect(snapshots).toEqual([{ behind: 0, auctions: live }]);
  });

  it('continue without a gap while auctions are opened and quoted at full speed', async () => {
    const before = new Set(opened.map(({ auction_id: id }) => id));
    let isGoing = true;
    const creating = Array.from({ length: 6 }, async () => {
      while (isGoing) {
        const { auction_id: id } = await opens(originator, [busy]);
        // May be refused by the rate limit; the number of calls matters.
        await busy.submit(id, { price_atoms: 500_000, quantity_atoms: 1_000_000 });
      }
    });
    const clients: { readonly client: StreamClient; readonly id: string }[] = [];
    for (let round = 0; round < FEW; round += 1) {
      for (const gateway of [0, 1]) {
        const client = await floor.listen(busy.name, {}, { gateway });
        clients.push({ client, id: await client.subscribe() });
      }
    }
    // All of them received an event after their snapshots.
    for (const { client, id } of clients)
      await client.untilIt(() => client.memory.of(id).events.length >= 20, '20 events');
    isGoing = false;
    await Promise.all(creating);
    const fresh = opened.map(({ auction_id: id }) => id).filter((id) => !before.has(id));
    expect(fresh.length).toBeGreaterThan(20);
    const timelines = await timelinesOf(busy, fresh);
    for (const { client, id } of clients) {
      await untilTold(client, id, timelines);
      expect(faultsIn(client.memory.of(id), timelines)).toEqual([]);
      expect(client.memory.faults).toEqual([]);
      expect(client.memory.of(id).snapshots).toHaveLength(1);
    }
  });
});
