import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import pg from 'pg';
import { startCluster, type OwnedCluster } from '#libs/testing/cluster/cluster.js';
import { eventually } from '#libs/testing/eventually.js';
import { auctionBody, TradingFloor, verdict, type Trader } from './trading-floor.js';

jest.setTimeout(120_000);

const ROUNDS = 12;
const BETWEEN_MS = 500;
const HOARD = 'select count(pg_advisory_lock(g)) from generate_series(1, 2000000) g';
const BY_TWO = 'select count(pg_try_advisory_lock(1749203316, g)) from generate_series(1, 2000000) g';
const DENIED = '42501';
const FULL = '53200';

let cluster: OwnedCluster;
let floor: TradingFloor;
let originator: Trader;
let maker: Trader;

beforeAll(async () => {
  cluster = await startCluster({ env: { LIMITS_FACTOR: '1000' } });
  floor = new TradingFloor(cluster);
  [originator, maker] = (await floor.traders('originator-1', 'maker-1')) as [Trader, Trader];
}, 90_000);

afterAll(async () => {
  floor.close();
  await cluster.stop();
}, 30_000);

/** One more session of a process's login, and what it is told when it asks for all locks that there are. */
async function hoard(name: string, text: string): Promise<{ client: pg.Client; code: unknown }> {
  const environment = readFileSync(`/proc/${cluster.process(name).pid}/environ`, 'utf8').split('\0');
  const login = environment.find((line) => line.startsWith('DATABASE_URL='))!;
  const client = new pg.Client({ connectionString: login.slice('DATABASE_URL='.length) });
  client.on('error', () => undefined);
  await client.connect();
  const code: unknown = await client.query(text).then(
    () => 'done',
    (error: unknown) => (error as pg.DatabaseError).code,
  );
  return { client, code };
}

/** One of everything that callers do, and how it was answered. */
async function dealt(): Promise<readonly string[]> {
  const body = auctionBody(floor.contract('venue_a'), [maker]);
  const { password } = cluster.file.demo;
  const [made, listed, login] = await Promise.all([
    originator.create(body),
    originator.api.send('GET', '/v1/auctions?limit=50'),
    floor.anybody.send('POST', '/auth/login', { body: { email: 'originator-1@demo.sotto', password } }),
  ]);
  const quoted =
    made.status === 201
      ? [await maker.submit(made.body.auction_id, { price_atoms: 400_000, quantity_atoms: 10_000_000 })]
      : [];
  return [made, listed, login, ...quoted].map((answer) => verdict(answer));
}

const WELL = ['201', '200', '200', '201'];

it.each(['projector', 'executor'])('the login of %s takes no locks from anybody', async (name) => {
  for (const text of [HOARD, BY_TWO]) {
    const { client, code } = await hoard(name, text);
    expect([code, await dealt()]).toEqual([DENIED, WELL]);
    await client.end();
  }
});

it('where a login fills the locks of the server that may, everybody is told 503, and all comes back', async () => {
  const { client, code } = await hoard('owner-0', HOARD);
  expect(code).toBe(FULL);
  const answers = new Set<string>();
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const answer of await dealt()) answers.add(answer);
    await sleep(BETWEEN_MS);
    // What others have let go of meanwhile, too.
    await client
      .query(`select count(pg_advisory_lock(${round + 1}, g)) from generate_series(1, 2000000) g`)
      .catch(() => undefined);
  }
  await client.end();
  expect([...answers].filter((answer) => answer.startsWith('503')).length).toBeGreaterThan(0);
  expect([...answers].filter((answer) => !/^(20[01]$|503 )/.test(answer))).toEqual([]);
  await eventually(async () => expect(await dealt()).toEqual(WELL), 60_000);
});
