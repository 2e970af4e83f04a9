import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { startCluster, type OwnedCluster } from '#libs/testing/cluster/cluster.js';
import { eventually } from '#libs/testing/eventually.js';
import { UpgradeRefused, type StreamClient } from '#libs/client/stream-client.js';
import type { SubscriptionHistory } from '#libs/client/stream-memory.js';
import type { AuctionJson, QuoteJson } from '#libs/client/wire.js';
import { StreamFloor } from '../stream-floor.js';
import { faultsIn, timelinesOf, untilTold } from '../stream-record.js';
import { auctionBody, mustBe, type Trader } from '../trading-floor.js';

const SLOW_READER = 4431;
const BAD_MESSAGE = 4400;
/** Each event is sent this many times on one stream, which fills its buffer sooner. */
const SUBSCRIPTIONS = 60;
const SLOW_STREAMS = 4;
const AUCTIONS = 6;
/** After this many ticks the buffers of the network and of the gateway are full. */
const MOST_TICKS = 400;
/** Certainly overflows a buffer of 4,096 messages. */
const TICKS_OF_AN_OVERFLOW = Math.ceil((3 * 4_096) / (SUBSCRIPTIONS * AUCTIONS));
const LOOK_EVERY = 5;
const BUFFER_MB = 8;
const STREAMS_OF_ONE_ACCOUNT = 330;
/** How much a gateway may grow besides the buffers of its slow readers; its heap varies by itself. */
const BREATH_MB = 120;
/** The longest time for an answer or an event at other clients. */
const IN_TIME_MS = 5_000;
const BETWEEN_CALLS_MS = 20;

jest.setTimeout(120_000);

let cluster: OwnedCluster;
let floor: StreamFloor;
let originator: Trader;
let maker: Trader;
let bystander: Trader;

beforeAll(async () => {
  const limits = { LIMITS_FACTOR: '50', STREAM_CONNECTIONS_PER_ACCOUNT: String(STREAMS_OF_ONE_ACCOUNT) };
  cluster = await startCluster({ env: { LOAD_ACCOUNTS: 'makers:8,originators:1', ...limits } });
  floor = new StreamFloor(cluster);
  const names = ['load-originator-1', 'load-maker-1', 'load-maker-2'];
  [originator, maker, bystander] = (await floor.traders(...names)) as [Trader, Trader, Trader];
}, 90_000);

afterAll(async () => {
  floor.close();
  await cluster.stop();
});

function opens(): Promise<AuctionJson> {
  const body = auctionBody(floor.contract('venue_c', 0), [maker, bystander], { duration_ms: 600_000 });
  return originator.opens(body);
}

function residentMb(): number {
  const status = readFileSync(`/proc/${cluster.process('gateway-0').pid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) / 1_024;
}

/** The sum over all rows of this metric with this label. */
async function metric(name: string, label = ''): Promise<number> {
  const text = await (await fetch(cluster.process('gateway-0').metrics_url)).text();
  const rows = text.split('\n').filter((row) => row.startsWith(`${name}{`) && row.includes(label));
  return rows.reduce((sum, row) => sum + Number(row.slice(row.lastIndexOf(' '))), 0);
}

/** One quote in each of these auctions; all prices change together. */
class Ticker {
  private quotes: readonly QuoteJson[] = [];
  private price = 1_000;

  constructor(
    private readonly by: Trader,
    private readonly auctions: readonly AuctionJson[],
  ) {}

  get ids(): string[] {
    return this.auctions.map(({ auction_id: id }) => id);
  }

  async tick(): Promise<void> {
    this.price = 1_000 + (this.price % 900_000);
    const change = { price_atoms: this.price };
    if (this.quotes.length === 0) {
      this.quotes = await Promise.all(this.ids.map((id) => this.by.quotes(id, this.price, 1)));
    } else {
      const revised = await Promise.all(this.quotes.map((quote) => this.by.revise(quote, change)));
      this.quotes = revised.map((answer) => mustBe(200, answer));
    }
  }

  async ticks(rounds: number): Promise<void> {
    for (let round = 0; round < rounds; round += 1) await this.tick();
  }

  /** Ticks until the condition holds; fails after this many ticks. */
  async ticksUntil(holds: () => Promise<boolean>, atMost: number): Promise<void> {
    for (let count = 0; count < atMost; count += LOOK_EVERY) {
      if (await holds()) return;
      await this.ticks(LOOK_EVERY);
    }
    throw new Error(`it still does not hold after ${atMost} ticks`);
  }
}

/** A stream with many subscriptions to everything. */
async function slow(): Promise<StreamClient> {
  const client = await floor.listen(maker.name);
  for (let count = 0; count < SUBSCRIPTIONS; count += 1) await eventually(() => client.subscribe());
  return client;
}

/** How many subscriptions were resynced because of a slow reader. */
function resyncs(): Promise<number> {
  return metric('sotto_stream_resyncs_total', 'reason="SLOW_READER"');
}

function toldOf(client: StreamClient): [string, SubscriptionHistory][] {
  return Object.keys(client.memory.seen).map((id) => [id, client.memory.of(id)]);
}

/** Makes HTTP calls during the action, and none may be late. Resolves with the action's result. */
async function answeredMeanwhile<T>(act: () => Promise<T>): Promise<T> {
  let going = true;
  const isGoing = (): boolean => going;
  const times: number[] = [];
  const asking = (async () => {
    do {
      const since = performance.now();
      mustBe(200, await bystander.api.get('/v1/me'));
      times.push(performance.now() - since);
      await sleep(BETWEEN_CALLS_MS);
    } while (isGoing());
  })();
  try {
    return await act();
  } finally {
    going = false;
    await asking;
    expect(Math.max(...times)).toBeLessThan(IN_TIME_MS);
  }
}

describe('a reader that stops', () => {
  let ticker: Ticker;

  beforeEach(async () => {
    ticker = new Ticker(maker, await Promise.all(Array.from({ length: AUCTIONS }, () => opens())));
  });

  afterEach(async () => {
    await Promise.all(ticker.ids.map((id) => originator.cancel(id)));
  });

  it('gets the present state when it goes on, and has lost nothing', async () => {
    const client = await slow();
    const attentive = await floor.listen(maker.name);
    const hears = await attentive.subscribe();
    const before = await resyncs();
    client.stopReading();
    await ticker.ticksUntil(async () => (await resyncs()) > before, MOST_TICKS);
    client.goOnReading();
    await ticker.tick();
    const timelines = await timelinesOf(maker, ticker.ids);
    for (const [id, told] of toldOf(client)) {
      await untilTold(client, id, timelines, 30_000);
      expect([id, faultsIn(told, timelines)]).toEqual([id, []]);
      expect([id, told.resyncs, told.snapshots.length]).toEqual([id, ['SLOW_READER'], 2]);
    }
    expect(client.memory.faults).toEqual([]);
    expect(client.closed).toBeUndefined();
    // A reader that keeps up receives every event.
    await untilTold(attentive, hears, timelines);
    expect(faultsIn(attentive.memory.of(hears), timelines)).toEqual([]);
    expect(attentive.memory.of(hears).resyncs).toEqual([]);
    client.kill();
  });

  it('is closed with 4431 when it is too slow a second time, and resumes later without a loss', async () => {
    const client = await slow();
    const before = await resyncs();
    client.stopReading();
    await ticker.ticksUntil(async () => (await resyncs()) > before, MOST_TICKS);
    await ticker.ticks(TICKS_OF_AN_OVERFLOW);
    client.goOnReading();
    expect((await client.untilClosed(30_000)).code).toBe(SLOW_READER);
    const again = await floor.goesOn(maker.name, client);
    const timelines = await timelinesOf(maker, ticker.ids);
    for (const [id, told] of toldOf(client)) {
      await untilTold(again, id, timelines, 30_000);
      expect([id, faultsIn(told, timelines)]).toEqual([id, []]);
    }
    expect(again.memory.faults).toEqual([]);
    again.kill();
  });

  it('is closed with 4431 at once if auctions end that it has not received, and receives each end when it resumes', async () => {
    const client = await slow();
    const cutOff = (): Promise<number> => metric('sotto_stream_closes_total', `code="${SLOW_READER}"`);
    const [cutOffBefore, resyncsBefore] = [await cutOff(), await resyncs()];
    const ended: string[] = [];
    client.stopReading();
    await ticker.ticksUntil(async () => {
      const { auction_id: id } = await opens();
      await maker.quotes(id, 500_000, 1);
      await originator.cancel(id);
      ended.push(id);
      return (await cutOff()) > cutOffBefore;
    }, MOST_TICKS);
    // Counted when it is decided, even before the client reads it.
    expect(client.closed).toBeUndefined();
    expect(await resyncs()).toBe(resyncsBefore);
    client.goOnReading();
    expect((await client.untilClosed(30_000)).code).toBe(SLOW_READER);
    const again = await floor.goesOn(maker.name, client);
    const timelines = await timelinesOf(maker, [...ticker.ids, ...ended]);
    for (const [id, told] of toldOf(client)) {
      await untilTold(again, id, timelines, 30_000);
      expect([id, faultsIn(told, timelines), told.resyncs]).toEqual([id, [], []]);
      const ends = told.events.filter(({ kind }) => kind === 'AUCTION_COMPLETED');
      expect(ends.map(({ auction_id: about }) => about).sort()).toEqual([...ended].sort());
    }
    expect(again.memory.faults).toEqual([]);
    again.kill();
  });

  it('costs other clients nothing and the gateway little, however long it does not read', async () => {
    const streams = await Promise.all(Array.from({ length: SLOW_STREAMS }, () => slow()));
    const [attentive, neighbour] = [await floor.listen(bystander.name), await floor.listen(maker.name)];
    const [all, hears] = [await attentive.subscribe(), await neighbour.subscribe()];
    const others = new Ticker(bystander, [await opens()]);
    const open = await metric('sotto_stream_connections');
    const cutOff = (): Promise<number> => metric('sotto_stream_closes_total', `code="${SLOW_READER}"`);
    const cutOffBefore = await cutOff();
    const [atFirst, delays] = [residentMb(), [] as number[]];
    let most = 0;
    for (const stream of streams) stream.stopReading();
    const look = async (): Promise<void> => {
      const { length } = attentive.memory.of(all).events;
      const since = performance.now();
      await others.tick();
      await attentive.untilIt(() => attentive.memory.of(all).events.length > length, 'the tick');
      delays.push(performance.now() - since);
      most = Math.max(most, residentMb());
    };
    const before = await resyncs();
    await answeredMeanwhile(async () => {
      await ticker.ticksUntil(async () => {
        await look();
        return (await resyncs()) >= before + SLOW_STREAMS * SUBSCRIPTIONS;
      }, MOST_TICKS);
      await ticker.ticks(TICKS_OF_AN_OVERFLOW);
      await eventually(async () => {
        await look();
        expect(await metric('sotto_stream_connections')).toBeLessThanOrEqual(open - SLOW_STREAMS);
      }, 45_000);
    });
    expect(await cutOff()).toBe(cutOffBefore + SLOW_STREAMS);
    expect(Math.max(...delays)).toBeLessThan(IN_TIME_MS);
    expect(most - atFirst).toBeLessThan(SLOW_STREAMS * BUFFER_MB + BREATH_MB);
    const timelines = await timelinesOf(maker, ticker.ids);
    await untilTold(neighbour, hears, timelines);
    expect([neighbour.memory.of(hears).resyncs, neighbour.memory.faults]).toEqual([[], []]);

    for (const stream of streams) {
      stream.goOnReading();
      await stream.untilClosed(30_000);
      const again = await floor.goesOn(maker.name, stream);
      for (const [id, told] of toldOf(stream)) {
        await untilTold(again, id, timelines, 30_000);
        expect([id, faultsIn(told, timelines)]).toEqual([id, []]);
      }
      expect(again.memory.faults).toEqual([]);
      again.kill();
    }
    await originator.cancel(others.ids[0]!);
  });
});

describe('a flood', () => {
  it('of ten thousand pings is answered completely, and HTTP in between', async () => {
    const client = await floor.listen(maker.name);
    await answeredMeanwhile(async () => {
      for (let count = 0; count < 10_000; count += 1) {
        client.say({ type: 'ping', cmd_id: String(count) });
        // Any delay must be the gateway's, not the test's.
        if (count % 500 === 0) await sleep(0);
      }
      const pongs = (): number => client.frames.filter(({ type }) => type === 'pong').length;
      await client.until(
        'the last pong',
        (frame) => frame.type === 'pong' && frame.cmd_id === '9999',
        60_000,
      );
      expect(pongs()).toBe(10_000);
    });
  });

  it('of a thousand subscriptions ends in refusals, and HTTP is answered in between', async () => {
    const { auction_id: id } = await opens();
    const client = await floor.listen(maker.name);
    await answeredMeanwhile(async () => {
      const asked = Array.from({ length: 1_000 }, (_, index) =>
        client.ask(
          'subscribe',
          index % 2 === 0 ? { channel: 'auctions' } : { channel: 'auction', auction_id: id },
        ),
      );
      const refused = (await Promise.all(asked)).filter(
        (reply) => reply.type === 'reject' && reply.status === 429,
      );
      expect(refused.length).toBeGreaterThan(800);
    });
    expect(await client.ask('ping')).toMatchObject({ type: 'pong' });
    await originator.cancel(id);
  });

  it('of commands is answered completely, and other clients do not wait', async () => {
    const { auction_id: id } = await opens();
    const client = await floor.listen(maker.name);
    await answeredMeanwhile(async () => {
      const terms = { auction_id: id, price_atoms: 1, quantity_atoms: 1 };
      const sent = Array.from({ length: 400 }, () => client.command('quote.submit', terms));
      const statuses = new Set((await Promise.all(sent)).map(({ status }) => status));
      expect([...statuses].filter((status) => ![422, 429].includes(status))).toEqual([]);
    });
    await originator.cancel(id);
  });

  it('of garbage ends each stream that it comes on', async () => {
    await answeredMeanwhile(async () => {
      for (let round = 0; round < 10; round += 1) {
        const clients = await Promise.all(Array.from({ length: 20 }, () => floor.listen('load-maker-3')));
        for (const [index, client] of clients.entries()) {
          for (let count = 0; count < 50; count += 1) {
            if (index % 2 === 0) client.sayText('x'.repeat(1_000));
            else client.sayBinary(Buffer.alloc(1_000, count));
          }
        }
        const closes = await Promise.all(clients.map((client) => client.untilClosed()));
        expect(new Set(closes.map(({ code }) => code))).toEqual(new Set([BAD_MESSAGE]));
      }
    });
  });

  it('of pings whose answers are not read does not stay in memory', async () => {
    const client = await floor.listen('load-maker-4');
    const before = residentMb();
    client.stopReading();
    const cmdId = 'x'.repeat(64);
    await answeredMeanwhile(async () => {
      for (let round = 0; round < 150 && client.closed === undefined; round += 1) {
        for (let count = 0; count < 1_000; count += 1) client.say({ type: 'ping', cmd_id: cmdId });
        await bystander.api.get('/v1/me');
      }
    });
    expect(residentMb() - before).toBeLessThan(8 + BREATH_MB);
    client.goOnReading();
    expect((await client.untilClosed(40_000)).code).toBe(SLOW_READER);
  });

  it('of idle streams costs little, and is bounded for each account', async () => {
    const idle: StreamClient[] = [];
    const before = residentMb();
    await answeredMeanwhile(async () => {
      for (let round = 0; round < STREAMS_OF_ONE_ACCOUNT / 30; round += 1) {
        const opening = Array.from({ length: 30 }, () => floor.listen('load-maker-5'));
        idle.push(...(await Promise.all(opening)));
      }
    });
    expect(residentMb() - before).toBeLessThan(BREATH_MB);
    const one = floor.listen('load-maker-5');
    await expect(one).rejects.toBeInstanceOf(UpgradeRefused);
    await expect(one).rejects.toMatchObject({ status: 429, text: '{"error":"stream_connection_limit"}' });
    await floor.listen('load-maker-6');
    idle[0]!.kill();
    await eventually(() => floor.listen('load-maker-5'));
    const { auction_id: id } = await opens();
    await maker.quotes(id, 500_000, 1);
    await originator.cancel(id);
  });
});
