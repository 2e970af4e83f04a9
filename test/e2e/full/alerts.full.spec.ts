import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import pg from 'pg';
import { WebSocket } from 'ws';
import { startCluster, type OwnedCluster } from '#libs/testing/cluster/cluster.js';
import { eventually } from '#libs/testing/eventually.js';
import { ALERTS } from '../../deploy/monitoring.js';
import { Scraper, valuesOf, type Scrape } from '../scraper.js';
import { StreamFloor } from '../stream-floor.js';
import { auctionBody, type Trader } from '../trading-floor.js';

/** Longer than the age at which the projections' figures count as old. */
const LOCKED_FOR_S = 35;
const UNWRITTEN_FOR_S = 12;
const BLOCKED_FOR_S = 15;
const BLOCKED = 'sotto_award_blocked_seconds{}';
const SHARDS = [0, 1, 2];

jest.setTimeout(120_000);

let cluster: OwnedCluster;
let floor: StreamFloor;
let scraper: Scraper;
let originator: Trader;
let maker: Trader;
let locker: pg.Client;

beforeAll(async () => {
  cluster = await startCluster();
  floor = new StreamFloor(cluster);
  scraper = new Scraper(cluster);
  [originator, maker] = (await floor.traders('originator-1', 'maker-1')) as [Trader, Trader];
  locker = new pg.Client({ connectionString: cluster.file.database_url });
  await locker.connect();
}, 90_000);

afterAll(async () => {
  await locker.end();
  floor.close();
  await cluster.stop();
});

/** The values computed below must equal those of the rule. */
function ruleOf(name: string): string {
  return ALERTS.find(({ alert }) => alert === name)?.expr ?? '';
}

async function whileLocked<T>(table: string, mode: string, look: () => Promise<T>): Promise<T> {
  await locker.query(`begin; lock table ${table} in ${mode} mode`);
  try {
    return await look();
  } finally {
    await locker.query('rollback');
  }
}

async function opens(): Promise<{ readonly id: string; readonly shard: number }> {
  const { auction_id: id } = await originator.opens(auctionBody(floor.contract('venue_a'), [maker]));
  return { id, shard: Number(id[0]) };
}

function settlerLog(): readonly Readonly<Record<string, unknown>>[] {
  const lines = readFileSync(path.join(cluster.dataDir, 'logs', 'settler.log'), 'utf8')
    .trim()
    .split('\n');
  return lines.map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>);
}

function lagAt(shard: number): string {
  return `sotto_projection_lag_events{shard="${shard}"}`;
}

function positionAt(shard: number): string {
  return `sotto_projection_position{shard="${shard}"}`;
}

async function expectProjected(shard: number): Promise<void> {
  const scrape = await scraper.scrape('projector');
  expect(scrape.get(lagAt(shard))).toBe(0);
  expect(scrape.get(positionAt(shard))).toBeGreaterThan(0);
  expect(scrape.get(`sotto_projection_age_seconds{shard="${shard}"}`)).toBeLessThan(5);
  expect(scrape.get('sotto_ready{}')).toBe(1);
}

it('while the projection positions are locked, all figures are served at once and the alerts for a stalled projector fire', async () => {
  const { id, shard } = await opens();
  await eventually(() => expectProjected(shard), 20_000);
  const others: Scrape[] = [];
  const scrapes = await whileLocked('auction_history.projection_offsets', 'access exclusive', async () => {
    await maker.quotes(id, 500_000, 1);
    const seen = await scraper.scrapes('projector', LOCKED_FOR_S);
    for (const name of ['owner-0', 'gateway-0', 'settler', 'postgres'])
      others.push(await scraper.scrape(name));
    expect(await scraper.readiness('projector')).toBe('positions_unreadable');
    return seen;
  });
  for (const scrape of scrapes) {
    const missing = SHARDS.flatMap((one) => [lagAt(one), positionAt(one)]).filter(
      (name) => !scrape.has(name),
    );
    expect(missing).toEqual([]);
  }
  expect(others).toHaveLength(4);
  // After the first scrapes nothing changes any more.
  const standing = scrapes.slice(5);
  expect(ruleOf('ProjectionStands')).toBe(
    'max by (shard) (sotto_projection_lag_events) > 0 and max by (shard) (changes(sotto_projection_position{job="projector"}[5m])) == 0',
  );
  expect(Math.min(...valuesOf(standing, lagAt(shard)).map((lag) => lag ?? 0))).toBeGreaterThan(0);
  expect(new Set(valuesOf(standing, positionAt(shard))).size).toBe(1);
  expect(ruleOf('ProjectorNotReady')).toBe('sotto_ready{job="projector"} == 0');
  expect(new Set(valuesOf(scrapes.slice(15), 'sotto_ready{}'))).toEqual(new Set([0]));
  expect(ruleOf('ProjectionUnknown')).toBe('min by (shard) (sotto_projection_age_seconds) > 30');
  for (const one of SHARDS) {
    expect(scrapes.at(-1)?.get(`sotto_projection_age_seconds{shard="${one}"}`)).toBeGreaterThan(30);
  }
  await eventually(() => expectProjected(shard), 40_000);
  expect(await scraper.readiness('projector')).toBe('ready');
});

it('while releases cannot be written, they are counted, and grow older from scrape to scrape', async () => {
  const { id, shard } = await opens();
  await maker.quotes(id, 500_000, 1);
  const owner = `owner-${shard}`;
  const { cancelled, scrapes } = await whileLocked('risk.reserved', 'exclusive', async () => ({
    cancelled: originator.cancel(id),
    scrapes: await scraper.scrapes(owner, UNWRITTEN_FOR_S),
  }));
  const behind = scrapes.slice(2);
  expect(
    Math.min(...valuesOf(behind, 'sotto_reservations_unwritten{}').map((count) => count ?? 0)),
  ).toBeGreaterThan(0);
  expect(ruleOf('ReservationsUnwritten')).toBe('sotto_reservations_unwritten_seconds > 300');
  const ages = valuesOf(behind, 'sotto_reservations_unwritten_seconds{}').map((age) => age ?? 0);
  for (const [index, age] of ages.entries()) expect(age).toBeGreaterThan((ages[index - 1] ?? 0) + 0.5);
  await cancelled;
  await eventually(async () => {
    const after = await scraper.scrape(owner);
    expect(after.get('sotto_reservations_unwritten{}')).toBe(0);
    expect(after.get('sotto_reservations_unwritten_seconds{}')).toBe(0);
  });
});

it('while one award cannot be settled its age shows, and the log says which award, why and how it ended', async () => {
  const where = `account_id = '${originator.accountId}' and venue = 'venue_a' and asset = ''`;
  const kept = await locker.query<{ amount: string }>(
    `select amount::text from custody.balances where ${where}`,
  );
  const body = auctionBody(floor.contract('venue_a'), [maker], {
    duration_ms: 1_500,
    execution_deadline_ms: BLOCKED_FOR_S * 1_000,
  });
  const { auction_id: id } = await originator.opens(body);
  await maker.quotes(id, 400_000, 10);
  await locker.query(`update custody.balances set amount = 0 where ${where}`);
  try {
    await originator.until(id, 'AWARDED', 'EXECUTING');
    const ages = valuesOf(await scraper.scrapes('settler', BLOCKED_FOR_S), BLOCKED);
    expect(ruleOf('SettlementsBlocked')).toBe('max by (instance) (sotto_award_blocked_seconds) > 10');
    expect(Math.max(...ages.map((age) => age ?? 0))).toBeGreaterThan(10);
    await eventually(async () => {
      expect((await originator.view(id)).status).toBe('EXECUTION_FAILED');
      expect((await scraper.scrape('settler')).get(BLOCKED)).toBe(0);
    });
  } finally {
    await locker.query(`update custody.balances set amount = $1 where ${where}`, [kept.rows[0]?.amount]);
  }
  const told = settlerLog().filter((line) => line.auction_id === id);
  const [award] = (await originator.view(id)).award?.awards ?? [];
  const named = { award_id: award?.award_id, routes: [expect.stringMatching(/^venue_a \S+ (YES|NO)$/)] };
  const why = 'no route can be carried by what is set aside for the award';
  expect(told).toMatchObject([
    { level: 'warn', ...named, reason: why },
    { level: 'error', ...named, reason: 'EXECUTION_DEADLINE_PASSED', blocked_by: [why] },
  ]);
  const text = JSON.stringify(told);
  for (const secret of [originator.accountId, maker.accountId, '400000', '10000000']) {
    expect(text).not.toContain(secret);
  }
});

it('clients that close in unusual ways make no new series, and do not count as faults of the service', async () => {
  const token = await floor.token('maker-1');
  const url = `${cluster.gatewayUrl.replace(/^http/, 'ws')}/v1/stream`;
  const codes = [4431, 4503, ...Array.from({ length: 20 }, (_, index) => 3_000 + index)];
  for (const code of codes) {
    const socket = new WebSocket(url, { headers: { authorization: `Bearer ${token}` } });
    await new Promise((resolve) => socket.once('open', resolve));
    const closed = new Promise((resolve) => socket.once('close', resolve));
    socket.close(code);
    await closed;
  }
  await eventually(async () => {
    const counted = [...(await scraper.scrape('gateway-0'))].filter(
      ([series, count]) => series.startsWith('sotto_stream_closes_total') && count > 0,
    );
    expect(counted).toEqual([['sotto_stream_closes_total{code="other",by="client"}', codes.length]]);
  });
});
