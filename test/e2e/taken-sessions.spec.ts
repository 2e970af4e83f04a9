import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import pg from 'pg';
import {
  sessionsOfExecutor,
  sessionsOfGateway,
  sessionsOfOwner,
} from '#libs/platform/database/database-sessions.js';
import { USUAL_PROCESSES } from '#libs/schema/roles/login-sessions.js';
import type { ApiAnswer } from '#libs/client/api-client.js';
import { startCluster, type OwnedCluster } from '#libs/testing/cluster/cluster.js';
import { eventually } from '#libs/testing/eventually.js';
import { Scraper } from './scraper.js';
import { auctionBody, TradingFloor, verdict, type Trader } from './trading-floor.js';

jest.setTimeout(120_000);

/** Longer than anything of ours waits for the database. */
const HELD_MS = 20_000;
const LOOK_EVERY_MS = 500;
/** Of each kind of question: more than a gateway, or the three owners, have sessions. */
const AT_ONCE = 48;
const PAST = 12;
const PROJECTED =
  'completed.viewers, completed.auctions, execution.events, execution.quotes, execution.answers, execution.positions';
const OWNERS = 3;
/** The one that there is, and one that takes its place. */
const EXECUTORS = 2;
const OF_EXECUTORS = EXECUTORS * sessionsOfExecutor(USUAL_PROCESSES.pool);
const TOO_MANY = '53300';
const OWNER_BUSY = '503 auction_owner_unavailable';
const UNREADABLE = '503 completed_projection_unavailable';

let cluster: OwnedCluster;
let floor: TradingFloor;
let originator: Trader;
let maker: Trader;
/** As who owns the tables, and sees who is there. */
let house: pg.Client;
const insiders: pg.Client[] = [];

beforeAll(async () => {
  cluster = await startCluster({ env: { LIMITS_FACTOR: '1000' } });
  floor = new TradingFloor(cluster);
  [originator, maker] = (await floor.traders('originator-1', 'maker-1')) as [Trader, Trader];
  house = new pg.Client({ connectionString: cluster.file.database_url });
  await house.connect();
}, 90_000);

afterAll(async () => {
  floor.close();
  await Promise.all([house, ...insiders].map((client) => client.end()));
  await cluster.stop();
}, 30_000);

/** As the process was told it; the one that takes its place is told the same. */
function loginOf(name: string): string {
  const environment = readFileSync(`/proc/${cluster.process(name).pid}/environ`, 'utf8').split('\0');
  return environment.find((line) => line.startsWith('DATABASE_URL='))!.slice('DATABASE_URL='.length);
}

/** One more session of a process's login. */
async function intrude(login: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: login });
  client.on('error', () => undefined);
  await client.connect();
  insiders.push(client);
  return client;
}

async function sessionsOf(role: string): Promise<number> {
  const { rows } = await house.query<{ count: number }>(
    `select count(*)::int as count from pg_stat_activity where usename = 'sotto_' || $1`,
    [role],
  );
  return rows[0]!.count;
}

/** The same again and again until it is told to stop, and what came of it. */
async function repeated(ask: () => Promise<ApiAnswer<unknown>>, stop: AbortSignal): Promise<string[]> {
  const answers = new Set<string>();
  while (!stop.aborted) answers.add(verdict(await ask()));
  return [...answers];
}

/** Auctions of each shard that are over and that nobody has in memory any more. */
async function overs(): Promise<readonly string[]> {
  const opened = Array.from({ length: PAST }, () =>
    originator.opens(auctionBody(floor.contract('venue_a'), [maker])),
  );
  const ids = (await Promise.all(opened)).map(({ auction_id: id }) => id);
  await Promise.all(ids.map((id) => originator.cancel(id)));
  await Promise.all(ids.map((id) => maker.untilCompletedRead(id)));
  return ids;
}

it('who locks the projections keeps nobody from quoting and logging in, and sessions stay what they are', async () => {
  const { auction_id: id } = await originator.opens(
    auctionBody(floor.contract('venue_a'), [maker], { duration_ms: 90_000 }),
  );
  const past = await overs();
  let quote = await maker.quotes(id, 400_000, 10);
  const insider = await intrude(loginOf('projector'));
  await insider.query(`begin; lock table ${PROJECTED} in access exclusive mode`);
  const over = new AbortController();
  const impatient = Array.from({ length: AT_ONCE }, (_, n) => [
    // Gateways read the one, owners the other.
    repeated(() => maker.get(past[n % PAST]!), over.signal),
    repeated(() => originator.cancel(past[n % PAST]!), over.signal),
  ]).flat();
  const most = { gateway: 0, owner: 0 };
  const answers = new Set<string>();
  for (let held = 0; held < HELD_MS; held += LOOK_EVERY_MS) {
    await sleep(LOOK_EVERY_MS);
    const revised = await maker.revise(quote, {
      price_atoms: held % 1_000 === 0 ? 410_000 : 400_000,
      quantity_atoms: 10_000_000,
    });
    answers.add(`revise ${verdict(revised)}`);
    if (revised.status === 200) quote = revised.body;
    const { password } = cluster.file.demo;
    const api = await floor.anybody.login('originator-1@demo.sotto', password).catch(String);
    answers.add(typeof api === 'string' ? api : 'login 200');
    if (typeof api !== 'string') api.close();
    for (const role of ['gateway', 'owner'] as const)
      most[role] = Math.max(most[role], await sessionsOf(role));
  }
  over.abort();
  await insider.query('rollback');
  const unanswered = (await Promise.all(impatient)).flat();
  expect(unanswered).toEqual(expect.arrayContaining([UNREADABLE, OWNER_BUSY]));
  expect([...answers].sort()).toEqual(['login 200', 'revise 200']);
  const { pool } = USUAL_PROCESSES;
  expect(most.gateway).toBeLessThanOrEqual(sessionsOfGateway(pool));
  expect(most.owner).toBeLessThanOrEqual(OWNERS * sessionsOfOwner(pool));
});

/** Opens sessions of the executor's login until it is refused one. */
async function fill(login: string): Promise<void> {
  let refusal: unknown;
  while (refusal === undefined) await intrude(login).catch((error: unknown) => (refusal = error));
  expect(refusal).toMatchObject({ code: TOO_MANY });
}

it('who opens all sessions that a login may have leaves owners, gateways and projectors theirs', async () => {
  const login = loginOf('executor');
  await fill(login);
  expect(await sessionsOf('executor')).toBe(OF_EXECUTORS);
  for (const name of ['owner-0', 'gateway-0', 'projector']) {
    const former = cluster.kill(name);
    await fill(login);
    await cluster.restartOf(name, former);
  }
  const again = await floor.anybody.login('originator-2@demo.sotto', cluster.file.demo.password);
  again.close();
});

/**
 * Has all sessions of the executor's login: the first refusal after it was ended says nothing, the server may not have noticed its end
 * yet, and the one that takes its place could have what is free then.
 */
async function takeAll(login: string): Promise<void> {
  await Promise.all(insiders.splice(0).map((client) => client.end()));
  const first = await eventually(() => intrude(login));
  const others = `select pg_terminate_backend(pid) from pg_stat_activity
                   where usename = current_user and pid <> all ($1)`;
  const ours: number[] = [];
  for (let client: pg.Client | undefined = first; ours.length < OF_EXECUTORS;) {
    const answer = await client?.query<{ pid: number }>('select pg_backend_pid() as pid');
    if (answer !== undefined) ours.push(answer.rows[0]!.pid);
    await first.query(others, [ours]);
    client = await intrude(login).catch(() => undefined);
  }
}

/** The rule `DatabaseRefuses` goes by this figure. */
it('a process that is given no session says so in its figures, and works once there is one', async () => {
  const login = loginOf('executor');
  const former = cluster.kill('executor');
  await takeAll(login);
  await eventually(async () => {
    const figures = await new Scraper(cluster).scrape('executor');
    expect(figures.get('sotto_ready{}')).toBe(0);
    expect(figures.get('sotto_database_sessions_refused_total{reason="too_many"}')).toBeGreaterThan(0);
    expect(figures.get('sotto_database_sessions_refused_total{reason="denied"}')).toBe(0);
  }, 20_000);
  await Promise.all(insiders.splice(0).map((client) => client.end()));
  await cluster.restartOf('executor', former);
});
