import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import {
  chmodSync,
  copyFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { startCluster, type OwnedCluster } from '#libs/testing/cluster/cluster.js';
import { eventually } from '#libs/testing/eventually.js';
import type { AuctionJson, QuoteJson } from '#libs/client/wire.js';
import type { StreamMemory } from '#libs/client/stream-memory.js';
import { StreamFloor } from '../stream-floor.js';
import { auctionBody, mustBe, TradingFloor, type Trader } from '../trading-floor.js';
import { TradingLoad } from '../trading-load.js';

jest.setTimeout(90_000);

interface Run {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

interface Verdict {
  readonly sound: boolean;
  readonly shards: readonly { readonly records: number; readonly faults: readonly string[] }[];
  readonly projections: readonly {
    readonly table: string;
    readonly rows: number;
    readonly differing: number;
  }[];
  readonly reservations: { readonly resources: number; readonly missing: readonly unknown[] };
  readonly ledger: { readonly ended: number; readonly faults: readonly string[] };
}

async function run(program: string, args: string, env: Readonly<Record<string, string>>): Promise<Run> {
  const script = `apps/cli/main.js ${program}`;
  const child = spawn(process.execPath, ['tools/run.mjs', ...script.split(' '), ...args.split(' ')], {
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const told = { out: '', err: '' };
  child.stdout.on('data', (chunk) => (told.out += String(chunk)));
  child.stderr.on('data', (chunk) => (told.err += String(chunk)));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, ...told };
}

let folder: string;
let lost: OwnedCluster;
let restored: OwnedCluster | undefined;
let backup: string;
let fresh: string;
/** Open when the backup is taken. */
let open: AuctionJson;
let quote: QuoteJson;
const key = randomUUID();
/** A stream of the lost cluster, from before the backup. */
let remembered: StreamMemory;

/** A cluster is backed up while it trades; then all of it is lost except the backup and its secrets. */
beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'sotto-drill-'));
  chmodSync(folder, 0o711);
  backup = path.join(folder, 'backup');
  fresh = mkdtempSync(path.join(folder, 'fresh-'));
  chmodSync(fresh, 0o711);
  lost = await startCluster({ env: { LIMITS_FACTOR: '50' } });
  const floor = new StreamFloor(lost);
  const [originator, other, mia, max] = (await floor.traders(
    'originator-1',
    'originator-2',
    'maker-1',
    'maker-2',
  )) as [Trader, Trader, Trader, Trader];
  const load = new TradingLoad(floor, [other], [mia, max]);
  load.start();
  const body = auctionBody(floor.contract('venue_a'), [mia, max], { duration_ms: 120_000 });
  open = mustBe(201, await originator.create(body, key));
  quote = await mia.quotes(open.auction_id, 400_000, 5);
  // Wait until an award was settled and its auction is read from the projections.
  const settled = await firstSettled(load, other);
  await other.untilCompletedRead(settled);
  const listening = await floor.listen('maker-1');
  await listening.subscribe();
  remembered = listening.memory;
  listening.kill();
  const { code, err } = await run('backup', `create --folder ${backup}`, { DATA_DIR: lost.dataDir });
  expect([code, err.split('\n').filter((line) => !/^\w+\.\w+: \d+ rows$/.test(line))]).toEqual([0, ['']]);
  await load.stop();
  floor.close();
  copyFileSync(path.join(lost.dataDir, 'secrets.json'), path.join(fresh, 'secrets.json'));
  await lost.killLauncher();
}, 90_000);

afterAll(async () => {
  await restored?.stop();
  await lost.stop();
  rmSync(folder, { recursive: true, force: true });
}, 30_000);

/** The first auction of the load whose awards were all settled. */
function firstSettled(load: TradingLoad, originator: Trader): Promise<string> {
  return eventually(async () => {
    const created = load.acknowledged.filter(({ operation }) => operation === 'create');
    const views = await Promise.all(created.map(({ answer }) => originator.view(answer!.body.auction_id)));
    const settled = views.find(({ status }) => status === 'SETTLED');
    if (settled === undefined)
      throw new Error(`none of ${views.map(({ status }) => status).join()} is settled`);
    return settled.auction_id;
  }, 30_000);
}

describe('the drill', () => {
  it('verifies the backup', async () => {
    const { code, out } = await run('backup', `check --folder ${backup} --output json`, {});
    expect(code).toBe(0);
    const { tables } = JSON.parse(out) as { tables: { name: string; rows: number }[] };
    const rows = Object.fromEntries(tables.map(({ name, rows: count }) => [name, count]));
    for (const table of [
      'journal.records',
      'custody.entries',
      'risk.reserved',
      'completed.auctions',
      'identity.users',
    ]) {
      expect([table, (rows[table] ?? 0) > 0]).toEqual([table, true]);
    }
  });

  it('restores it into a new data folder, where journals, projections, reservations and ledger agree', async () => {
    const done = await run('backup', `restore --folder ${backup}`, { DATA_DIR: fresh });
    expect([done.code, done.out]).toEqual([0, expect.stringContaining('restored from')]);
    const { code, out } = await run('journal', 'verify --output json', { DATA_DIR: fresh });
    const verdict = JSON.parse(out) as Verdict;
    expect(verdict.shards.flatMap(({ faults }) => faults)).toEqual([]);
    expect(verdict.shards.filter(({ records }) => records > 1)).toHaveLength(3);
    expect(verdict.projections.filter(({ differing }) => differing > 0)).toEqual([]);
    expect(verdict.reservations.missing).toEqual([]);
    expect(verdict.reservations.resources).toBeGreaterThan(0);
    expect(verdict.ledger.faults).toEqual([]);
    expect(verdict.ledger.ended).toBeGreaterThan(0);
    expect([code, verdict.sound]).toEqual([0, true]);
  });

  it('goes on trading where it was', async () => {
    restored = await startCluster({ dataDir: fresh, env: { LIMITS_FACTOR: '50' } });
    const floor = new TradingFloor(restored);
    const [originator, mia, max] = (await floor.traders('originator-1', 'maker-1', 'maker-2')) as [
      Trader,
      Trader,
      Trader,
    ];
    expect(await originator.view(open.auction_id)).toMatchObject({ status: 'OPEN' });
    expect(await mia.myQuotes(open.auction_id)).toMatchObject([
      { quote_id: quote.quote_id, status: quote.status },
    ]);
    const body = auctionBody(floor.contract('venue_a'), [mia, max], { duration_ms: 120_000 });
    const again = await originator.create(body, key);
    expect([again.status, again.body.auction_id]).toEqual([200, open.auction_id]);
    await max.quotes(open.auction_id, 410_000, 5);
    expect((await originator.cancel(open.auction_id)).status).toBe(200);
    floor.close();
  });
});

describe('a stream of the cluster that was lost', () => {
  it('is not resumed by its token, whose events are different now, and starts with a snapshot', async () => {
    const floor = new StreamFloor(restored!);
    const again = await floor.open({ token: await floor.token('maker-1'), memory: remembered });
    expect(await again.resume()).toMatchObject({
      resumed: false,
      resume_error: 'INVALID',
      subscriptions: [],
    });
    again.kill();
    const fresh = await floor.listen('maker-1');
    await fresh.subscribe();
    fresh.kill();
    const later = await floor.open({ token: await floor.token('maker-1'), memory: fresh.memory });
    expect(await later.resume()).toMatchObject({ resumed: true });
    later.kill();
    floor.close();
  });
});

describe('a backup', () => {
  it('is never written over another, nor restored over anything', async () => {
    const over = await run('backup', `create --folder ${backup}`, { DATA_DIR: fresh });
    expect([over.code, over.err]).toEqual([69, expect.stringContaining('exists already')]);
    const into = await run('backup', `restore --folder ${backup}`, { DATA_DIR: fresh });
    expect([into.code, into.err]).toEqual([69, expect.stringContaining('has a database already')]);
    const used = await run('backup', `restore --folder ${backup}`, {
      DATABASE_URL: restored?.file.database_url ?? '',
    });
    expect([used.code, used.err]).toEqual([69, expect.stringContaining('the database is not empty')]);
  });

  it('is refused if any part of it was damaged', async () => {
    const damages: [string, (text: Buffer) => Buffer | string][] = [
      ['journal.records.rows.gz', (bytes) => bytes.subarray(0, bytes.length / 2)],
      ['custody.entries.rows.gz', () => ''],
      ['manifest.json', (text) => text.toString().replace(/"rows": \d+/, '"rows": 7')],
      ['manifest.json', (text) => text.toString().replace('"format": 2', '"format": 3')],
    ];
    for (const [file, damage] of damages) {
      const place = path.join(backup, file);
      const whole = readFileSync(place);
      writeFileSync(place, damage(whole));
      const { code, err } = await run('backup', `check --folder ${backup}`, {});
      expect([file, code, err]).toEqual([file, 1, expect.stringMatching(/^backup: /)]);
      writeFileSync(place, whole);
    }
    expect((await run('backup', `check --folder ${backup}`, {})).code).toBe(0);
    expect(readdirSync(folder).some((name) => name.includes('.partial'))).toBe(false);
  });

  it.each([
    ['', 64],
    ['create', 64],
    ['restore --folder x --output yaml', 64],
    ['check --folder /nowhere', 1],
  ])('is not understood: %s', async (args, code) => {
    expect((await run('backup', args, {})).code).toBe(code);
  });
});
