import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startCluster, type OwnedCluster } from '#libs/testing/cluster/cluster.js';
import { eventually } from '#libs/testing/eventually.js';
import { runTool } from '#libs/testing/cluster/tool-run.js';
import type { AuctionJson } from '#libs/client/wire.js';
import { ServiceRecords } from '../books.js';
import { auctionBody, CONTRACT, mustBe, type Trader, TradingFloor, verdict } from '../trading-floor.js';
import { allKnown, allOver, moreLoad } from '../load-outcome.js';
import { TradingLoad, type Sent } from '../trading-load.js';

const SETTINGS = { LIMITS_FACTOR: '50', LOAD_ACCOUNTS: 'makers:6,originators:4' };
const VICTIMS = ['gateway-0', 'owner-0', 'projector', 'owner-1', 'settler', 'owner-2', 'postgres'];
const ANSWERS_BETWEEN_KILLS = 30;
const STALL_MS = 400;

jest.setTimeout(60_000);

let dataDir: string;
let cluster: OwnedCluster;
let floor: TradingFloor;
let books: ServiceRecords;
let load: TradingLoad;
let originators: Trader[];
let makers: Trader[];
let wealthBefore: Record<string, string>;
/** What the callers know after repeating each unanswered command with its key. */
let known: Sent[];

beforeAll(async () => {
  dataDir = mkdtempSync(path.join(tmpdir(), 'sotto-e2e-faults-'));
  chmodSync(dataDir, 0o711);
  await open();
  wealthBefore = await books.wealth();
  load = new TradingLoad(floor, originators, makers);
  load.start();
  for (const victim of VICTIMS) {
    await moreLoad(load, ANSWERS_BETWEEN_KILLS);
    await withItsDependants(victim, () => Promise.resolve(cluster.kill(victim)));
  }
  await moreLoad(load, ANSWERS_BETWEEN_KILLS);
  await withItsDependants('postgres', killDatabaseBeforeItWrites);
  await moreLoad(load, ANSWERS_BETWEEN_KILLS);
  await load.stop();
  known = await allKnown(load);
  await allOver(known);
}, 300_000);

afterAll(async () => {
  await close();
  await cluster.stop();
  rmSync(dataDir, { recursive: true, force: true });
});

async function open(): Promise<void> {
  cluster = await startCluster({ env: SETTINGS, dataDir });
  floor = new TradingFloor(cluster);
  books = new ServiceRecords(cluster);
  originators = await floor.traders('load-originator-1', 'load-originator-2', 'load-originator-3');
  makers = await floor.traders(
    'load-maker-1',
    'load-maker-2',
    'load-maker-3',
    'load-maker-4',
    'load-maker-5',
  );
}

async function close(): Promise<void> {
  floor.close();
  await books.close();
}

/**
 * Writes in flight to a locked journal are certainly lost when the whole database is then killed, so an answer
 * that was given too early shows.
 */
async function killDatabaseBeforeItWrites(): Promise<number> {
  const { pid } = cluster.process('postgres');
  await books.whileLocked('journal.records', async () => {
    await sleep(STALL_MS);
    const family = [pid, ...childrenOf(pid)];
    for (const member of family) process.kill(member, 'SIGSTOP');
    for (const member of family) process.kill(member, 'SIGKILL');
  });
  return pid;
}

function childrenOf(parent: number): number[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.map(Number).filter((pid) => new RegExp(`^PPid:\\s+${parent}$`, 'm').test(statusOf(pid)));
}

/**
 * Resolves when the killed process runs again. When the database dies, owners end too rather than guess, so
 * each of them is a new process afterwards.
 */
async function withItsDependants(victim: string, kill: () => Promise<number>): Promise<void> {
  const owners = victim === 'postgres' ? ['owner-0', 'owner-1', 'owner-2'] : [];
  const before = owners.map((name) => cluster.process(name).pid);
  await cluster.restartOf(victim, await kill());
  for (const [index, name] of owners.entries()) await cluster.restartOf(name, before[index]!);
  await everythingReady();
}

async function everythingReady(): Promise<void> {
  await eventually(async () => {
    for (const { name, health_url: url } of cluster.file.processes) {
      const { status } = await fetch(url.replace('/healthz', '/readyz'));
      if (status !== 200) throw new Error(`${name} is ${status}`);
    }
  }, 30_000);
}

function done(operation: Sent['operation']): Sent[] {
  return known.filter((sent) => sent.operation === operation && sent.answer!.status < 300);
}

function created(): { originator: Trader; id: string; sent: Sent }[] {
  return done('create').map((sent) => ({ originator: sent.by, id: sent.answer!.body.auction_id, sent }));
}

/** An owner that cannot prove its shard now answers 503, and is asked again. */
function toldBy<T>(read: () => Promise<T>): Promise<T> {
  return eventually(read, 20_000);
}

async function everyListed(trader: Trader): Promise<string[]> {
  const ids: string[] = [];
  for (let cursor = ''; ;) {
    const path = `/v1/auctions?limit=50${cursor}`;
    const page = await toldBy(async () =>
      mustBe(200, await trader.api.get<{ auctions: AuctionJson[]; next_cursor?: string }>(path)),
    );
    ids.push(...page.auctions.map(({ auction_id: id }) => id));
    if (page.next_cursor === undefined) return ids;
    cursor = `&cursor=${page.next_cursor}`;
  }
}

describe('after kill -9 of every process under load', () => {
  it('there was load, and some of it was cut off', () => {
    expect(created().length).toBeGreaterThan(30);
    expect(done('submit').length).toBeGreaterThan(60);
    expect(load.unknown.length).toBeGreaterThan(0);
  });

  it('every acknowledged create is there, with the same answer', async () => {
    const checks = created().map(async ({ originator, id, sent }) => {
      expect((await toldBy(() => originator.view(id))).phase).toBe('COMPLETED');
      const again = await originator.create(sent.body, sent.key);
      expect([again.status, again.text]).toEqual([200, sent.answer!.text]);
      expect((await toldBy(() => originator.timeline(id))).at(-1)!.kind).toBe('AUCTION_COMPLETED');
    });
    await Promise.all(checks);
  });

  it('every acknowledged quote, revision and withdrawal is in its timeline, and nothing else is', async () => {
    const told = { submit: 'QUOTE_ACCEPTED', revise: 'QUOTE_REVISED', withdraw: 'QUOTE_WITHDRAWN' } as const;
    const check = async (maker: Trader, id: string): Promise<void> => {
      const timeline = await toldBy(() => maker.timeline(id));
      expect(timeline.map(({ seq }) => seq)).toEqual(timeline.map((_, index) => index + 1));
      for (const operation of ['submit', 'revise', 'withdraw'] as const) {
        const sent = known.filter(
          ({ operation: sentAs, by, path: at }) => sentAs === operation && by === maker && at.includes(id),
        );
        const heard = sent.filter(({ answer }) => answer!.status < 300).map(({ answer }) => answer!.body);
        const written = timeline.filter(({ kind }) => kind === told[operation]).map(({ data }) => data.quote);
        // On a difference, the other answers help to explain it.
        const verdicts = sent.map(({ answer }) => verdict(answer!));
        expect({ operation, verdicts, written }).toEqual({ operation, verdicts, written: heard });
      }
    };
    const checks = created().flatMap(({ id, sent }) => {
      const { market_maker_ids: invited } = sent.answer!.body.audience!;
      return makers.filter(({ accountId }) => invited.includes(accountId)).map((maker) => check(maker, id));
    });
    await Promise.all(checks);
  });

  it('no auction exists without an acknowledged create, and none twice', async () => {
    for (const originator of originators) {
      const own = created().filter((auction) => auction.originator === originator);
      const listed = await everyListed(originator);
      expect([...listed].sort()).toEqual(own.map(({ id }) => id).sort());
    }
  });

  it('a command without an answer, repeated, was done once, is done now, or is refused', () => {
    const repeats = known.filter(({ key }) => load.unknown.some((sent) => sent.key === key));
    const verdicts = new Set(
      repeats.map(({ answer }) => `${answer!.status} ${(answer!.body as { error?: string }).error ?? ''}`),
    );
    const fine = [
      '200 ',
      '201 ',
      '422 AUCTION_NOT_OPEN',
      '422 QUOTE_NOT_REVISABLE',
      '422 QUOTE_NOT_WITHDRAWABLE',
    ];
    expect([...verdicts].filter((verdict) => !fine.includes(verdict))).toEqual([]);
  });

  it('the sums of the ledger are unchanged, and its awards equal those of the auctions', async () => {
    expect(await books.imbalances()).toEqual({});
    expect(await books.wealth()).toEqual(wealthBefore);
    const rows = await books.rows<{ award_id: string; outcome: string }>(
      'select award_id, outcome from custody.settlements',
    );
    const settled = new Map(rows.map(({ award_id: id, outcome }) => [id, outcome]));
    const views = await Promise.all(created().map(({ originator, id }) => toldBy(() => originator.view(id))));
    const awards = views.flatMap(({ award }) => award?.awards ?? []);
    expect(awards.length).toBeGreaterThan(20);
    expect(
      awards.map(({ award_id: id, execution_status: status }) => [
        id,
        status === 'CONFIRMED' ? 'SETTLED' : 'FAILED',
      ]),
    ).toEqual(awards.map(({ award_id: id }) => [id, settled.get(id)]));
    expect(settled.size).toBe(awards.length);
  });

  it('nothing is reserved any more, and a new auction reserves what it should', async () => {
    const held = async (): Promise<unknown[]> => {
      const all = [...originators, ...makers].map(({ accountId }) => books.reserved(accountId));
      return (await Promise.all(all)).filter((reserved) => Object.keys(reserved).length > 0);
    };
    await eventually(async () => expect(await held()).toEqual([]));
    const [originator, maker] = [originators[0]!, makers[0]!];
    const opened = await originator.opens(
      auctionBody(floor.contract('venue_a'), [maker], { limit_price_atoms: 600_000 }),
    );
    await maker.quotes(opened.auction_id, 500_000, 4);
    const own = await books.reserved(originator.accountId);
    expect(own['venue_a/COLLATERAL/']).toBe((600_000 * 10 * CONTRACT) / 1_000_000);
    // A maker without tokens puts up the payout minus the price.
    expect((await books.reserved(maker.accountId))['venue_a/COLLATERAL/']).toBe(
      (500_000 * 4 * CONTRACT) / 1_000_000,
    );
    await originator.cancel(opened.auction_id);
    await eventually(async () => expect(await held()).toEqual([]));
  });

  it('the projections agree with the journals', async () => {
    const compared = await runTool('apps/cli/main.js projection', ['compare'], {
      DATA_DIR: dataDir,
      DATABASE_URL: cluster.file.database_url,
    });
    expect(compared).toMatchObject({ code: 0 });
  });
});

describe('after kill -9 of the launcher', () => {
  it('no process is left, and the next start has all data', async () => {
    const { originator, id, sent } = created()[0]!;
    const before = await originator.get(id);
    const running = cluster.file.processes.map(({ pid }) => pid);
    await close();
    await cluster.killLauncher();
    await eventually(() => expect(running.filter(isRunning)).toEqual([]), 15_000);
    expect(cluster.file.ready).toBe(false);
    await cluster.stop();

    await open();
    const after = await (await floor.trader(originator.name)).get(id);
    expect(after.text).toBe(before.text);
    const replay = await (await floor.trader(originator.name)).create(sent.body, sent.key);
    expect([replay.status, replay.text]).toEqual([200, sent.answer!.text]);
    expect(await books.wealth()).toEqual(wealthBefore);
  });

  it('and in order it stops within ten seconds', async () => {
    const running = cluster.file.processes.map(({ pid }) => pid);
    const began = performance.now();
    expect(await cluster.stop()).toBe(0);
    expect(performance.now() - began).toBeLessThan(10_000);
    expect(running.filter(isRunning)).toEqual([]);
  });
});

/** A zombie has ended: its parent has only not collected it yet. */
function isRunning(pid: number): boolean {
  const status = statusOf(pid);
  return status !== '' && !/^State:\s+[ZX]/m.test(status);
}

/** Empty if there is no such process any more. */
function statusOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/status`, 'utf8');
  } catch {
    return '';
  }
}
