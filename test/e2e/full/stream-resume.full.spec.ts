import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startCluster, type OwnedCluster } from '#libs/testing/cluster/cluster.js';
import { eventually } from '#libs/testing/eventually.js';
import { RunningCluster } from '#libs/testing/cluster/running-cluster.js';
import type { StreamClient } from '#libs/client/stream-client.js';
import { StreamMemory } from '#libs/client/stream-memory.js';
import type { AuctionJson } from '#libs/client/wire.js';
import { StreamFloor } from '../stream-floor.js';
import { StreamFollower } from '../stream-follower.js';
import { faultsIn, timelinesOf, untilTold, type Timelines } from '../stream-record.js';
import { auctionBody, mustBe, type Trader, UUID } from '../trading-floor.js';
import { TradingLoad } from '../trading-load.js';

const SETTINGS = { GATEWAYS: '2', LIMITS_FACTOR: '50', LOAD_ACCOUNTS: 'makers:6,originators:4' };
/** The number of events between two kills. */
const EVENTS_BETWEEN = 40;

jest.setTimeout(120_000);

/** Its traders connect to the other gateway. */
class OtherDoor extends RunningCluster {
  override get gatewayUrl(): string {
    return this.process('gateway-1').url ?? '';
  }
}

let dataDir: string;
let cluster: OwnedCluster;
let floor: StreamFloor;
let originator: Trader;
let maker: Trader;

async function open(): Promise<void> {
  cluster = await startCluster({ env: SETTINGS, dataDir });
  floor = new StreamFloor(new OtherDoor(dataDir));
  [originator, maker] = (await floor.traders('load-originator-1', 'load-maker-1')) as [Trader, Trader];
}

beforeAll(async () => {
  dataDir = mkdtempSync(path.join(tmpdir(), 'sotto-e2e-resume-'));
  chmodSync(dataDir, 0o711);
  await open();
}, 90_000);

afterAll(async () => {
  floor.close();
  await cluster.stop();
  rmSync(dataDir, { recursive: true, force: true });
});

function opens(by = originator, makers: readonly Trader[] = [maker]): Promise<AuctionJson> {
  return by.opens(auctionBody(floor.contract('venue_c', 0), makers, { duration_ms: 600_000 }));
}

/** Every timeline of the trader, whether or not its stream mentioned it. */
async function everything(trader: Trader): Promise<Timelines> {
  const ids: string[] = [];
  for (let cursor = ''; ;) {
    const path = `/v1/auctions?limit=50${cursor}`;
    const page = mustBe(200, await trader.api.get<{ auctions: AuctionJson[]; next_cursor?: string }>(path));
    ids.push(...page.auctions.map(({ auction_id: id }) => id));
    if (page.next_cursor === undefined) return timelinesOf(trader, ids);
    cursor = `&cursor=${page.next_cursor}`;
  }
}

describe('under load', () => {
  let followers: StreamFollower[];
  let steady: AuctionJson;

  beforeAll(async () => {
    const originators = await floor.traders('load-originator-2', 'load-originator-3');
    const makers = await floor.traders('load-maker-2', 'load-maker-3', 'load-maker-4', 'load-maker-5');
    steady = await opens(originators[0], makers);
    followers = await Promise.all(
      [...originators, ...makers].map((trader) => {
        const isIn = trader !== originators[1];
        const one = isIn ? [{ channel: 'auction', auction_id: steady.auction_id }] : [];
        return new StreamFollower(floor, trader).start({ channel: 'auctions' }, ...one, {
          channel: 'auctions',
        });
      }),
    );
    const load = new TradingLoad(floor, originators, makers);
    load.start();
    const quoting = quoteSteadily(makers);
    for (const victim of ['gateway-0', 'owner-1', 'gateway-1', 'postgres', 'gateway-0']) {
      await someEvents();
      const pid = cluster.kill(victim);
      if (victim === 'gateway-0') await someEvents();
      await cluster.restartOf(victim, pid);
    }
    await someEvents();
    isQuoting = false;
    await quoting;
    await load.stop();
    await eventually(async () => {
      for (const trader of originators) {
        const page = await trader.api.get<{ auctions: AuctionJson[] }>('/v1/auctions?limit=50');
        const live = mustBe(200, page).auctions.filter(({ phase }) => phase === 'LIVE');
        expect(live.filter(({ auction_id: id }) => id !== steady.auction_id)).toEqual([]);
      }
    }, 40_000);
    await originators[0]!.cancel(steady.auction_id);
  }, 120_000);

  afterAll(async () => {
    await Promise.all(followers.map((follower) => follower.stop()));
  });

  let isQuoting = true;

  /** Revises one quote each, so that the subscriptions to this one auction have events. */
  async function quoteSteadily(makers: readonly Trader[]): Promise<void> {
    while (isQuoting) {
      await Promise.all(
        makers.map(async (by) => {
          try {
            const [quote] = (await by.myQuotes(steady.auction_id)).filter(
              ({ status }) => status === 'ACTIVE',
            );
            if (quote === undefined) await by.quotes(steady.auction_id, 500_000, 1);
            else await by.revise(quote, { price_atoms: 400_000 + quote.revision * 1_000 });
          } catch {
            // A process that is down now is asked again.
          }
        }),
      );
    }
  }

  async function someEvents(): Promise<void> {
    const before = followers.map(({ told }) => told.events.length);
    await eventually(() => {
      for (const [index, { told, trader }] of followers.entries())
        if (told.events.length < before[index]! + EVENTS_BETWEEN)
          throw new Error(`${trader.name} hears little`);
    }, 40_000);
  }

  it('all followers moved to another gateway and back', () => {
    for (const { ends } of followers) expect(ends.length).toBeGreaterThanOrEqual(2);
  });

  it('no follower lost an event, received one twice, or started from a new snapshot', async () => {
    for (const follower of followers) {
      const timelines = await everything(follower.trader);
      expect(timelines.size).toBeGreaterThan(10);
      const [first, ...others] = follower.allTold;
      await eventually(() => expect(faultsIn(first!, timelines)).toEqual([]), 15_000);
      expect([follower.trader.name, follower.faults, follower.memory.faults]).toEqual([
        ...[follower.trader.name, [], []],
      ]);
      for (const { resyncs, snapshots } of follower.allTold)
        expect([resyncs, snapshots.length]).toEqual([[], 1]);
      expect(first!.events.length).toBeGreaterThan(4 * EVENTS_BETWEEN);
      // Two subscriptions to all have the same events, and one to a single auction has a part of them.
      const content = (id?: string): string[] =>
        first!.events
          .filter((event) => id === undefined || event.auction_id === id)
          .map(({ auction_id: about, timeline_seq: seq }) => `${about} ${seq}`);
      for (const { events } of others) {
        const about = new Set(events.map(({ auction_id: id }) => id));
        const told = events.map(({ auction_id: id, timeline_seq: seq }) => `${id} ${seq}`);
        expect([...told].sort()).toEqual(content(about.size === 1 ? steady.auction_id : undefined).sort());
      }
    }
  });
});

/** Its gateway may learn of the auction only after the subscription began, and then sends its opening too. */
function hasQuote(client: StreamClient, subscription: string): boolean {
  return client.memory.of(subscription).events.some(({ kind }) => kind === 'QUOTE_ACCEPTED');
}

describe('a stream that has ended', () => {
  async function heard(client: StreamClient, id: string, auctionId: string): Promise<void> {
    const timelines = await timelinesOf(maker, [auctionId]);
    await untilTold(client, id, timelines);
    expect(faultsIn(client.memory.of(id), timelines)).toEqual([]);
    expect(client.memory.faults).toEqual([]);
    expect(client.memory.of(id).resyncs).toEqual([]);
  }

  it('resumes at its gateway after that was killed and restarted', async () => {
    const { auction_id: id } = await opens();
    const client = await floor.listen('load-maker-1', {}, { gateway: 0 });
    const [all, one] = [await client.subscribe(), await client.subscribeTo(id)];
    const quote = await maker.quotes(id, 500_000, 1);
    await client.untilIt(() => hasQuote(client, one), 'the quote');
    const pid = cluster.kill('gateway-0');
    await client.untilClosed();
    await maker.withdraw(quote);
    await cluster.restartOf('gateway-0', pid);
    const again = await floor.goesOn('load-maker-1', client);
    for (const subscription of [all, one]) await heard(again, subscription, id);
    await maker.quotes(id, 510_000, 1);
    for (const subscription of [all, one]) await heard(again, subscription, id);
    await originator.cancel(id);
  });

  it('resumes after everything was stopped and started again', async () => {
    const { auction_id: id } = await opens();
    const client = await floor.listen('load-maker-1');
    const all = await client.subscribe();
    await maker.quotes(id, 500_000, 1);
    await client.untilIt(() => hasQuote(client, all), 'the quote');
    const { memory } = client;
    client.kill();
    await maker.submit(id, { price_atoms: 1, quantity_atoms: 1 });
    floor.close();
    expect(await cluster.stop()).toBe(0);
    await open();
    const again = await floor.open({ token: await floor.token('load-maker-1'), gateway: 1, memory });
    expect(await again.resume()).toMatchObject({
      resumed: true,
      subscriptions: [{ subscription_id: all, channel: 'auctions' }],
    });
    await heard(again, all, id);
    await originator.cancel(id);
    await heard(again, all, id);
  });

  it('resumes with the same connection id, and later subscriptions get new ids', async () => {
    const { auction_id: id } = await opens();
    const client = await floor.listen('load-maker-1');
    const first = await client.subscribeTo(id);
    const { connection_id: connection } = await client.untilType('welcome');
    client.kill();
    const again = await floor.goesOn('load-maker-1', client, { gateway: 1 });
    const welcome = await again.untilType('welcome');
    expect(welcome).toEqual({
      ...{ type: 'welcome', cmd_id: expect.any(String), connection_id: connection },
      server_time: expect.any(String),
      session_expires_at: expect.any(String),
      heartbeat_ms: 10_000,
      resumed: true,
      subscriptions: [{ subscription_id: first, channel: 'auction', auction_id: id }],
    });
    expect(await again.subscribe()).not.toBe(first);
    await originator.cancel(id);
  });

  it('does not bring back a subscription that was ended', async () => {
    const client = await floor.listen('load-maker-1');
    const [ended, kept] = [await client.subscribe(), await client.subscribe()];
    const { length } = client.frames;
    await client.ask('unsubscribe', { subscription_id: ended });
    await client.untilIt(
      () => client.frames.slice(length).some((frame) => 'resume_token' in frame),
      'a token',
    );
    client.kill();
    client.memory.forget(ended);
    const again = await floor.goesOn('load-maker-1', client, { gateway: 1 });
    expect((await again.untilType('welcome')).subscriptions).toEqual([
      { subscription_id: kept, channel: 'auctions' },
    ]);
  });

  it('receives events after the token again if it does not state its position', async () => {
    const { auction_id: id } = await opens();
    const client = await floor.listen('load-maker-1');
    const one = await client.subscribeTo(id);
    const atFirst = client.memory.token;
    let quote = await maker.quotes(id, 500_000, 1);
    for (let price = 490_000; price > 400_000; price -= 10_000)
      quote = mustBe(200, await maker.revise(quote, { price_atoms: price }));
    await client.untilIt(() => client.memory.of(one).events.length === 10, 'ten events');
    client.kill();
    const forgetful = new StreamMemory();
    const again = await floor.open({
      token: await floor.token('load-maker-1'),
      gateway: 1,
      memory: forgetful,
    });
    const welcome = await again.hello({ resume_token: atFirst });
    expect(welcome.resumed).toBe(true);
    await again.untilIt(() => forgetful.of(one).events.length === 10, 'the ten events again');
    const content = (memory: StreamMemory): unknown[] =>
      memory.of(one).events.map((event) => ({ ...event, resume_token: undefined }));
    expect(content(forgetful)).toEqual(content(client.memory));
    await originator.cancel(id);
  });

  it('resumes repeatedly, each time from its latest position', async () => {
    const { auction_id: id } = await opens();
    let client = await floor.listen('load-maker-1');
    const one = await client.subscribeTo(id);
    let quote = await maker.quotes(id, 500_000, 1);
    for (let round = 1; round <= 12; round += 1) {
      client.kill();
      quote = mustBe(200, await maker.revise(quote, { price_atoms: 500_000 - round * 1_000 }));
      client = await floor.goesOn('load-maker-1', client, { gateway: round % 2 });
      if (round % 3 === 0) await heard(client, one, id);
    }
    await heard(client, one, id);
    await originator.cancel(id);
  });
});

describe('an invalid token', () => {
  async function refused(token: string, error = 'INVALID'): Promise<void> {
    const client = await floor.open({ token: await floor.token('load-maker-1'), gateway: 1 });
    const welcome = await client.hello({ resume_token: token, seen: { s1: 7 } });
    expect(welcome).toMatchObject({ resumed: false, resume_error: error, subscriptions: [] });
    expect(welcome.connection_id).toMatch(UUID);
    // It is a connection like any other.
    await client.subscribe();
  }

  it('of another account, garbled, or not a token: resumed false, INVALID, and the stream starts with a snapshot', async () => {
    const { auction_id: id } = await opens(originator, [maker, await floor.trader('load-maker-6')]);
    const foreign = await floor.listen('load-maker-6');
    await foreign.subscribeTo(id);
    const own = await floor.listen('load-maker-1');
    await own.subscribeTo(id);
    const token = own.memory.token!;
    await refused(foreign.memory.token!);
    for (const place of [0, 1, 8, 20, Math.floor(token.length / 2), token.length - 1]) {
      const other = token[place] === 'A' ? 'B' : 'A';
      await refused(token.slice(0, place) + other + token.slice(place + 1));
    }
    for (const broken of ['', 'x', '!', token.slice(0, -4), `${token}AAAA`, `${token}=`, 'A'.repeat(40_000)])
      await refused(broken);
    await originator.cancel(id);
  });

  it('has a length that does not depend on positions, events or time', async () => {
    const { auction_id: id } = await opens();
    const client = await floor.listen('load-maker-1');
    const one = await client.subscribeTo(id);
    const lengths = new Set([client.memory.token!.length]);
    let quote = await maker.quotes(id, 500_000, 1);
    for (let round = 0; round < 120; round += 1)
      quote = mustBe(200, await maker.revise(quote, { price_atoms: 400_000 + round * 1_000 }));
    await client.untilIt(() => client.memory.of(one).events.length === 121, 'the events');
    for (const frame of client.frames) if ('resume_token' in frame) lengths.add(frame.resume_token.length);
    expect(lengths.size).toBe(1);
    // At least every hundred events, or every second.
    const gaps = client.memory
      .of(one)
      .events.map(({ resume_token: given }) => (given === undefined ? '.' : 'T'))
      .join('');
    expect(gaps).not.toMatch(/\.{100}/);
    await originator.cancel(id);
  });
});
