import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { startCluster, type OwnedCluster } from '#libs/testing/cluster.js';
import { eventually } from '#libs/testing/eventually.js';
import { UpgradeRefused, type StreamClient } from '#libs/testing/stream-client.js';
import type { AuctionView, QuoteView } from '#libs/testing/wire.js';
import { StreamFloor } from './stream-floor.js';
import { faultsIn, timelinesOf, untilTold } from './stream-record.js';
import { auctionBody, mustBe, type Trader } from './trading-floor.js';

const SLOW_READER = 4431;
const BAD_MESSAGE = 4400;
/** Each event is told so many times on one stream, which fills its buffer so much sooner. */
const SUBSCRIPTIONS = 40;
const SLOW_STREAMS = 4;
const STREAMS_OF_ONE_ACCOUNT = 330;
/** What a gateway may grow by beside what the buffers of its slow readers hold, for its heap breathes. */
const BREATH_MB = 120;
/** Nobody else may have to wait longer than this for an answer, or for news. */
const IN_TIME_MS = 3_000;

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

function opens(): Promise<AuctionView> {
  const body = auctionBody(floor.contract('venue_c', 0), [maker, bystander], { duration_ms: 600_000 });
  return originator.opens(body);
}

function residentMb(): number {
  const status = readFileSync(`/proc/${cluster.process('gateway-0').pid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) / 1_024;
}

/** The sum over all labels that begin like this. */
async function metric(name: string): Promise<number> {
  const text = await (await fetch(cluster.process('gateway-0').metrics_url)).text();
  const lines = text.split('\n').filter((line) => line.startsWith(name));
  return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);
}

/** Prices of one quote, one after the other, and how long each took to reach whoever listens. */
class Ticker {
  private quote: QuoteView | undefined;
  private price = 0;

  constructor(
    private readonly by: Trader,
    private readonly auctionId: string,
  ) {}

  async tick(): Promise<void> {
    this.price = (this.price + 1_000) % 900_000;
    const price = 1_000 + this.price;
    if (this.quote === undefined) this.quote = await this.by.quotes(this.auctionId, price, 1);
    else this.quote = mustBe(200, await this.by.revise(this.quote, { price_atoms: price }));
  }

  /** Until it holds, and so many times at most. */
  async ticksUntil(holds: () => Promise<boolean>, atMost: number): Promise<number> {
    for (let count = 0; count < atMost; count += 1) {
      if (count % 20 === 0 && (await holds())) return count;
      await this.tick();
    }
    throw new Error(`it still does not hold after ${atMost} ticks`);
  }
}

async function slow(auctionId: string): Promise<StreamClient> {
  const client = await floor.listen(maker.name);
  await client.subscribe();
  for (let count = 1; count < SUBSCRIPTIONS; count += 1)
    await eventually(() => client.subscribeTo(auctionId));
  return client;
}

/** Answers over HTTP while something else goes on, none of them late; resolves with what that gave. */
async function answeredMeanwhile<T>(act: () => Promise<T>): Promise<T> {
  let isOver = false;
  const acting = act().finally(() => (isOver = true));
  acting.catch(() => undefined);
  const times: number[] = [];
  while (!isOver) {
    const since = performance.now();
    mustBe(200, await bystander.api.get('/v1/me'));
    times.push(performance.now() - since);
  }
  expect(Math.max(...times)).toBeLessThan(IN_TIME_MS);
  return acting;
}

describe('a reader that stops', () => {
  it('is shown the present when it goes on, and has lost nothing', async () => {
    const { auction_id: id } = await opens();
    const client = await slow(id);
    const attentive = await floor.listen(maker.name);
    const hears = await attentive.subscribe();
    const before = await metric('sotto_stream_resyncs_total{reason="SLOW_READER"}');
    const ticker = new Ticker(maker, id);
    client.stopReading();
    const hasOverflowed = async (): Promise<boolean> =>
      (await metric('sotto_stream_resyncs_total{reason="SLOW_READER"}')) > before;
    await ticker.ticksUntil(hasOverflowed, 3_000);
    client.goOnReading();
    await ticker.tick();
    const timelines = await timelinesOf(maker, [id]);
    for (const [name, told] of Object.entries(client.memory.seen).map(
      ([name]) => [name, client.memory.of(name)] as const,
    )) {
      await untilTold(client, name, timelines, 30_000);
      expect([name, faultsIn(told, timelines)]).toEqual([name, []]);
      expect([name, told.resyncs]).toEqual([name, ['SLOW_READER']]);
      expect(told.snapshots).toHaveLength(2);
    }
    expect(client.memory.faults).toEqual([]);
    expect(client.closed).toBeUndefined();
    // Who listens is told every single thing.
    await untilTold(attentive, hears, timelines);
    expect(faultsIn(attentive.memory.of(hears), timelines)).toEqual([]);
    expect(attentive.memory.of(hears).resyncs).toEqual([]);
    await originator.cancel(id);
  });

  it('is cut off the second time, costs the others nothing and the gateway little, and goes on later', async () => {
    const { auction_id: id } = await opens();
    const streams = await Promise.all(Array.from({ length: SLOW_STREAMS }, () => slow(id)));
    const attentive = await floor.listen(bystander.name);
    await attentive.subscribe();
    const neighbour = await floor.listen(maker.name);
    const hears = await neighbour.subscribe();
    const [own, others] = [new Ticker(maker, id), new Ticker(bystander, id)];
    const closesBefore = await metric(`sotto_stream_closes_total{code="${SLOW_READER}"}`);
    const [memoryBefore, delays] = [residentMb(), [] as number[]];
    let memoryMost = 0;
    for (const stream of streams) stream.stopReading();
    await answeredMeanwhile(() =>
      own.ticksUntil(async () => {
        const since = performance.now();
        const heard = attentive.memory.of('s1').events.length;
        await others.tick();
        await attentive.untilIt(() => attentive.memory.of('s1').events.length > heard, 'the tick');
        delays.push(performance.now() - since);
        memoryMost = Math.max(memoryMost, residentMb());
        return (await metric('sotto_stream_connections')) <= 2;
      }, 6_000),
    );
    expect(await metric(`sotto_stream_closes_total{code="${SLOW_READER}"}`)).toBe(
      closesBefore + SLOW_STREAMS,
    );
    expect(Math.max(...delays)).toBeLessThan(IN_TIME_MS);
    expect(memoryMost - memoryBefore).toBeLessThan(SLOW_STREAMS * 8 + BREATH_MB);
    const timelines = await timelinesOf(maker, [id]);
    await untilTold(neighbour, hears, timelines);
    expect(neighbour.memory.of(hears).resyncs).toEqual([]);

    for (const stream of streams) stream.goOnReading();
    for (const stream of streams) {
      await stream.untilClosed(30_000);
      const again = await floor.goesOn(maker.name, stream);
      for (const name of Object.keys(stream.memory.seen)) {
        await untilTold(again, name, timelines, 30_000);
        expect([name, faultsIn(again.memory.of(name), timelines)]).toEqual([name, []]);
      }
      expect(again.memory.faults).toEqual([]);
    }
    await originator.cancel(id);
  });

  it('hears why, when it reads in time', async () => {
    const { auction_id: id } = await opens();
    const client = await slow(id);
    const before = await metric(`sotto_stream_closes_total{code="${SLOW_READER}"}`);
    const resyncs = await metric('sotto_stream_resyncs_total{reason="SLOW_READER"}');
    client.stopReading();
    const ticker = new Ticker(maker, id);
    const isTold = async (): Promise<boolean> =>
      (await metric('sotto_stream_resyncs_total{reason="SLOW_READER"}')) > resyncs;
    await ticker.ticksUntil(isTold, 3_000);
    // It goes on overflowing while nobody counts it as closed: its close frame waits behind what it did not read.
    for (let count = 0; count < 200; count += 1) await ticker.tick();
    client.goOnReading();
    expect((await client.untilClosed(30_000)).code).toBe(SLOW_READER);
    expect(await metric(`sotto_stream_closes_total{code="${SLOW_READER}"}`)).toBe(before + 1);
    await originator.cancel(id);
  });
});

describe('a flood', () => {
  it('of ten thousand pings is answered, each of them, and HTTP in between', async () => {
    const client = await floor.listen(maker.name);
    await answeredMeanwhile(async () => {
      for (let count = 0; count < 10_000; count += 1) client.say({ type: 'ping', cmd_id: String(count) });
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

  it('of commands is answered, each of them, and nobody else waits', async () => {
    const { auction_id: id } = await opens();
    const client = await floor.listen(maker.name);
    await answeredMeanwhile(async () => {
      const terms = { auction_id: id, price_atoms: 1, quantity_atoms: 1 };
      const sent = Array.from({ length: 2_000 }, () => client.command('quote.submit', terms));
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

  it('of pings that nobody reads the answers of is not kept in memory', async () => {
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
