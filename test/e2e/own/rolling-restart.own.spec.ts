import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startCluster, type OwnedCluster } from '#libs/testing/cluster/cluster.js';
import { ServiceRecords } from '../books.js';
import { allOver, createsOf, lostOf, moreLoad } from '../load-outcome.js';
import { StreamFollower } from '../stream-follower.js';
import { StreamFloor } from '../stream-floor.js';
import { timelinesOf } from '../stream-record.js';
import type { Trader } from '../trading-floor.js';
import { TradingLoad, type Sent } from '../trading-load.js';

jest.setTimeout(60_000);

const SETTINGS = { GATEWAYS: '2', LIMITS_FACTOR: '50', LOAD_ACCOUNTS: 'makers:4,originators:3' };
/** Restarts each process of the cluster once, in the order of an upgrade; the database stays. */
const ORDER = ['projector', 'settler', 'owner-2', 'owner-1', 'owner-0', 'gateway-1', 'gateway-0'];
/** The take-over of a shard as callers see it: three seconds, and more on a busy machine. */
const TAKE_OVER_MS = 10_000;
const ANSWERS_BETWEEN = 15;
const PROBE_EVERY_MS = 25;
/** A stopping gateway closes streams with this code. */
const GOING_AWAY = 4503;

let cluster: OwnedCluster;
let floor: StreamFloor;
let books: ServiceRecords;
let load: TradingLoad;
let originators: Trader[];
let makers: Trader[];
let followers: StreamFollower[];
let wealthBefore: Record<string, string>;
const restarts: string[] = [];
/** How long each shard answered no command. */
const silences = new Map<string, number>();

beforeAll(async () => {
  cluster = await startCluster({ env: SETTINGS });
  floor = new StreamFloor(cluster);
  books = new ServiceRecords(cluster);
  originators = await floor.traders('load-originator-1', 'load-originator-2');
  makers = await floor.traders('load-maker-1', 'load-maker-2', 'load-maker-3');
  wealthBefore = await books.wealth();
  followers = await Promise.all(
    [...originators, ...makers].map((trader) => new StreamFollower(floor, trader).start()),
  );
  load = new TradingLoad(floor, originators, makers);
  load.start();
  for (const name of ORDER) {
    await moreLoad(load, ANSWERS_BETWEEN);
    await restarted(name);
  }
  await moreLoad(load, ANSWERS_BETWEEN);
  await load.stop();
  await allOver(load.acknowledged);
}, 120_000);

afterAll(async () => {
  await Promise.all(followers.map((follower) => follower.stop()));
  floor.close();
  await books.close();
  await cluster.stop();
});

/** Sends SIGTERM, as every orchestrator does, and waits for a new process. */
async function restarted(name: string): Promise<void> {
  const probe = name.startsWith('owner-') ? new Probe(Number(name.at(-1))) : undefined;
  await cluster.restartOf(name, cluster.kill(name, 'SIGTERM'));
  if (probe !== undefined) silences.set(name, await probe.end());
  restarts.push(name);
}

/** Repeats a command that always has the same answer in a shard, at the gateway that is not being restarted. */
class Probe {
  private isGoing = true;
  private longest = 0;
  private answered = performance.now();
  private readonly asking: Promise<void>;

  constructor(shard: number) {
    this.asking = this.ask(`${shard}0000000-0000-8000-8000-000000000000`);
  }

  async end(): Promise<number> {
    const restarted = performance.now();
    // The new process must have answered, too.
    while (this.answered < restarted) await sleep(PROBE_EVERY_MS);
    this.isGoing = false;
    await this.asking;
    return this.longest;
  }

  private async ask(auction: string): Promise<void> {
    while (this.isGoing) {
      const { status } = await makers[0]!.submit(auction, {
        price_atoms: 500_000,
        quantity_atoms: 1_000_000,
      });
      const now = performance.now();
      if (status === 404) {
        this.longest = Math.max(this.longest, now - this.answered);
        this.answered = now;
      }
      await sleep(PROBE_EVERY_MS);
    }
  }
}

function created(): Sent[] {
  return createsOf(load.acknowledged);
}

describe('a rolling restart of the whole cluster under load', () => {
  it('replaced every process under load', () => {
    expect(restarts).toEqual(ORDER);
    expect(created().length).toBeGreaterThan(20);
    expect(load.acknowledged.length).toBeGreaterThan(100);
  });

  it('ended each process in order, with exit code 0', () => {
    const launcher = readFileSync(path.join(cluster.dataDir, 'launcher.log'), 'utf8');
    const codes = ORDER.map((name) => [name, new RegExp(`${name} ended.*`).exec(launcher)?.[0]]);
    expect(codes).toEqual(ORDER.map((name) => [name, expect.stringContaining('exit code 0')]));
  });

  it('paused no shard for longer than its take-over', () => {
    expect([...silences.keys()].sort()).toEqual(['owner-0', 'owner-1', 'owner-2']);
    for (const [name, millis] of silences)
      expect([name, millis < TAKE_OVER_MS, millis]).toEqual([name, true, millis]);
  });

  it('lost nothing that was acknowledged', async () => {
    expect(await lostOf(load.acknowledged)).toEqual([]);
  });

  it('did no unanswered command twice: repeated, it is done once or refused', async () => {
    const verdicts = await Promise.all(
      load.unknown.map(async ({ by, path, body, key }) => {
        const first = await by.api.post(path, body, key);
        const second = await by.api.post(path, body, key);
        expect(second.status).toBe(first.status === 201 ? 200 : first.status);
        return first.status;
      }),
    );
    expect(verdicts.filter((status) => status >= 500)).toEqual([]);
  });

  it('said goodbye on every stream, and sent every follower every event once', async () => {
    for (const follower of followers) {
      expect(follower.ends).toEqual([GOING_AWAY]);
      const ids = created().map(({ answer }) => answer!.body);
      const own = ids.filter(
        ({ audience }, index) =>
          created()[index]!.by === follower.trader ||
          audience?.market_maker_ids.includes(follower.trader.accountId) === true,
      );
      const timelines = await timelinesOf(
        follower.trader,
        own.map(({ auction_id: id }) => id),
      );
      await follower.hears(timelines);
      expect(follower.wrongs(timelines)).toEqual([]);
    }
  });

  it('left the sums of the ledger unchanged', async () => {
    expect(await books.imbalances()).toEqual({});
    expect(await books.wealth()).toEqual(wealthBefore);
  });
});
