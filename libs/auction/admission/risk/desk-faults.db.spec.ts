import { createServer, connect, type Server, type Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { Need } from '../../rules/holds.js';
import { instantFromNanos } from '#libs/base/instant.js';
import { pause } from '#libs/platform/time/clock.js';
import { SystemClock } from '#libs/platform/time/system-clock.js';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database/test-database.js';
import { admissionMigrations } from '../migrations/list.js';
import { funded, stateEvidence } from './evidence-rows.fixture.js';
import { DeskSession, type OpenedSession } from './desk-session.js';
import { DeskWriter } from './desk-writer.js';
import { PostgresReservationDesk } from './postgres-desk.js';

const NEED: Need = {
  side: 'BUY',
  routes: [{ venue: 'venue_a', contract_id: 'rain', outcome: 'YES' }],
  price_atoms: 500_000,
  quantity_atoms: 200,
  parts: 1,
};
const ACCOUNT = 'maker';

/** The server's command tags after a commit and after a claim. */
const COMMITTED = 'COMMIT';
const CLAIMED = 'SELECT';

/** A proxy before the server that can lose one answer of a request that was carried out. */
class LossyWire {
  losing: string | undefined;
  refusing = false;
  private readonly sockets = new Set<Socket>();
  private server: Server | undefined;

  async open(target: URL): Promise<string> {
    const server = createServer((near) => {
      this.join(near, target);
    });
    this.server = server;
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('no port');
    const url = new URL(target.href);
    url.hostname = '127.0.0.1';
    url.port = String(address.port);
    return url.href;
  }

  cut(): void {
    for (const socket of this.sockets) socket.destroy();
    this.sockets.clear();
  }

  close(): void {
    this.cut();
    this.server?.close();
  }

  private join(near: Socket, target: URL): void {
    if (this.refusing) {
      near.destroy();
      return;
    }
    const far = connect(Number(target.port), target.hostname);
    for (const socket of [near, far]) {
      this.sockets.add(socket);
      socket.on('error', () => undefined);
    }
    near.on('data', (data: Buffer) => far.write(data));
    near.on('close', () => far.destroy());
    far.on('close', () => near.destroy());
    far.on('data', (data: Buffer) => {
      if (this.losing === undefined || !data.includes(this.losing)) {
        near.write(data);
        return;
      }
      this.losing = undefined;
      this.cut();
    });
  }
}

const clock = new SystemClock();
let database: TestDatabase;
let wire: LossyWire;
let desk: PostgresReservationDesk;

beforeAll(async () => {
  database = await createTestDatabase(admissionMigrations);
  await stateEvidence(database.pool, funded(ACCOUNT, 1_000, ['venue_a']));
  wire = new LossyWire();
  const url = await wire.open(new URL(database.url));
  desk = await PostgresReservationDesk.open({ url, shard: 0, epoch: 1, clock, random: () => 0.5 });
});
afterEach(() => {
  wire.losing = undefined;
  wire.refusing = false;
});
afterAll(async () => {
  await desk.close();
  wire.close();
  await database.drop();
});

async function held(): Promise<number> {
  const { rows } = await database.pool.query<{ held: number }>(
    `select shard_0::float8 as held from risk.reserved where account_id = $1 and resource = 'COLLATERAL'`,
    [ACCOUNT],
  );
  return rows[0]?.held ?? -1;
}

function reserve(need = NEED) {
  return desk.reserve([{ account: ACCOUNT, need, current: [] }]);
}

/** The balance of the tokens is not cached, so this takes a transaction that reads first. */
function reserveForSale() {
  return reserve({ ...NEED, side: 'SELL' });
}

async function isThere(pid: number): Promise<boolean> {
  const { rowCount } = await database.pool.query('select from pg_stat_activity where pid = $1', [pid]);
  return rowCount === 1;
}

async function until(reached: () => Promise<boolean>): Promise<void> {
  while (!(await reached())) await pause(clock, 5);
}

describe('reservations over a failing connection', () => {
  it('report UNKNOWN when the answer to a commit is lost, and repair the row by themselves', async () => {
    wire.losing = COMMITTED;
    await expect(reserveForSale()).rejects.toMatchObject({ name: 'ReservationFault', kind: 'UNKNOWN' });
    await until(async () => (await held()) === 0 && desk.totals().unwritten === 0);
    expect(desk.totals()).toMatchObject({ keys: 0, faults: 1 });
  });

  it('are made exactly once when the answer to a claim is lost', async () => {
    wire.losing = CLAIMED;
    const [outcome] = await reserve();
    expect(wire.losing).toBeUndefined();
    expect(await held()).toBe(100);
    if (outcome?.ok === true) await desk.release([{ account: ACCOUNT, hold: outcome.hold }]);
    expect(await held()).toBe(0);
    expect(desk.totals()).toMatchObject({ keys: 0, unwritten: 0 });
  });

  it('reconnect silently when nothing was in doubt', async () => {
    wire.cut();
    const [outcome] = await reserve();
    expect(outcome?.ok).toBe(true);
    expect(await held()).toBe(100);
    if (outcome?.ok === true) await desk.release([{ account: ACCOUNT, hold: outcome.hold }]);
    expect(await held()).toBe(0);
  });

  it('fail closed while the server is away, and write a release as soon as it is back', async () => {
    const [outcome] = await reserve();
    if (outcome?.ok !== true) throw new Error('refused');
    wire.refusing = true;
    wire.cut();
    const released = desk.release([{ account: ACCOUNT, hold: outcome.hold }]);
    await expect(reserve()).rejects.toMatchObject({ kind: 'UNAVAILABLE' });
    expect(await held()).toBe(100);
    wire.refusing = false;
    await released;
    expect(await held()).toBe(0);
  });
});

it('ends the session it has given up before it uses another one', async () => {
  const [former, next] = [await DeskSession.open(database.url, 1), await DeskSession.open(database.url, 1)];
  expect(await isThere(former.pid)).toBe(true);
  expect(await next.outlives(former.pid)).toBe(true);
  expect(await isThere(former.pid)).toBe(false);
  // Another session that has the same process id is left alone.
  const other = await database.pool.connect();
  const { rows } = await other.query<{ pid: number }>('select pg_backend_pid() as pid');
  expect(await next.outlives(rows[0]!.pid)).toBe(true);
  expect(await isThere(rows[0]!.pid)).toBe(true);
  other.release();
  former.destroy();
  await next.end();
});

it('makes no new claim before the session of an unanswered claim has ended', async () => {
  const opened: DeskSession[] = [];
  /** The first session loses its claim, and its server does not notice that the client is gone. */
  const openSession = async (): Promise<OpenedSession> => {
    const session = await DeskSession.open(database.url, 1);
    opened.push(session);
    if (opened.length > 1) return session;
    const lost = { claim: () => Promise.reject(new Error('Query read timeout')), destroy: () => undefined };
    return Object.assign(Object.create(session) as DeskSession, lost);
  };
  const random = (): number => 0.5;
  const nothing = { lines: [], quoting: [], at: instantFromNanos(clock.epochNanos()) };
  const writer = new DeskWriter({ url: database.url, shard: 1, epoch: 1, clock, random, openSession });
  await writer.raiseFence();
  expect(await writer.claim(new Set([ACCOUNT]), nothing)).toBeUndefined();
  expect(await isThere(opened[0]!.pid)).toBe(true);
  expect(await writer.claim(new Set([ACCOUNT]), nothing)).toEqual([]);
  expect(await isThere(opened[0]!.pid)).toBe(false);
  await writer.close();
  opened[0]!.destroy();
});

it('can write even if its login defaults to read-only transactions', async () => {
  const login = `in database ${new URL(database.url).pathname.slice(1)}`;
  await database.pool.query(`alter role current_user ${login} set default_transaction_read_only = on`);
  const session = await DeskSession.open(database.url, 2).finally(() =>
    database.pool.query(`alter role current_user ${login} reset all`),
  );
  expect(await session.raiseFence(1)).toBe(true);
  await session.end();
});
