import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import pg from 'pg';
import { linkEvent } from '#libs/journal/hash-chain.js';
import type { JournalHead } from '#libs/journal/journal.js';
import type { OwnedCluster } from '#libs/testing/cluster/cluster.js';
import { eventually } from '#libs/testing/eventually.js';
import { ForgersCluster } from '../forgers-cluster.js';
import { keyFor, StreamFloor } from '../stream-floor.js';
import { auctionBody, mustBe, type Trader } from '../trading-floor.js';

jest.setTimeout(120_000);

const OPEN_FOR_MS = 8_000;
/** Enough for a close and an award that are due, and for a supervisor's retries. */
const LONG_MS = 4_000;

let forgers: ForgersCluster;
let cluster: OwnedCluster;
let database: pg.Client;

beforeAll(async () => {
  forgers = await ForgersCluster.start();
  ({ cluster, database } = forgers);
}, 90_000);
afterAll(() => forgers.stop(), 30_000);

it('the key is in the environment of owners, and of no other process', () => {
  const withKey = cluster.file.processes.filter(
    ({ name, kind }) => kind !== 'postgres' && environmentOf(name).some((line) => line.startsWith('ID_KEY=')),
  );
  expect(withKey.map(({ kind }) => kind)).toEqual(['owner', 'owner', 'owner']);
});

it('a quote that its maker never sent, appended with an owner’s login, decides nothing', async () => {
  const { floor, traders } = await forgers.floor();
  const [originator, mia, max] = traders;
  const contract = floor.contract('venue_a');
  const { auction_id: id } = await originator.opens(
    auctionBody(contract, [mia, max], { duration_ms: OPEN_FOR_MS }),
  );
  await mia.quotes(id, 420_000, 10);
  await max.withdraw(await max.quotes(id, 400_000, 10));
  const shard = Number(id[0]);
  const owner = `owner-${shard}`;
  const forged = await forgeQuote(id, shard);

  cluster.kill(owner);
  await eventually(
    () => expect(forgers.logOf(owner)).toContain(`ends with record ${forged}, which has no seal`),
    20_000,
  );
  expect(forgers.logOf(owner)).toContain('"exit_code":65');
  await sleep(OPEN_FOR_MS + LONG_MS);
  expect(await headOf(shard)).toMatchObject({ sequence: forged });
  expect(await max.get(id)).toMatchObject({ status: 503 });
  const told = await forgers.tool('journal', 'verify');
  expect(told.code).toBe(1);
  expect(told.output).toContain(
    `shard ${shard}: record ${forged} ends an append and has no seal: no owner wrote what follows record ${forged - 1}`,
  );
  expect(told.output).not.toContain('BREAKS THE RULES');

  // As docs/operate/journals.md says: the owner of the tables deletes the record, and everything derived from it is rebuilt.
  await database.query('delete from journal.records where shard = $1 and sequence >= $2', [shard, forged]);
  await isReadyAgain(owner);
  expect(await forgers.tool('projection', 'rebuild')).toMatchObject({ code: 0 });
  for (const name of ['projector', 'gateway-0']) await cluster.restartOf(name, cluster.kill(name));
  const settled = await originator.until(id, 'SETTLED');
  expect(settled.award).toMatchObject({ average_price_atoms: 420_000 });
  const mended = await forgers.tool('journal', 'verify');
  expect([mended.code, mended.output]).toEqual([0, expect.stringContaining('SOUND')]);
  expect(mended.output).toContain('all made with keys of ID_KEY');
  floor.close();
});

it('a record that does not fit the chain is named and shown, and all processes go on by themselves once it is deleted', async () => {
  const shard = 1;
  const owner = `owner-${shard}`;
  const sealed = await forgeLazily(shard);
  await eventually(
    async () => expect(await said('projector')).toEqual({ status: 'journal_unreadable' }),
    20_000,
  );
  await eventually(
    async () => expect(await figure('gateway-0', 'sotto_stream_stopped_shards')).toBe(1),
    20_000,
  );
  expect(await figure('projector', 'sotto_ready')).toBe(0);
  const before = ['projector', 'gateway-0'].map((name) => cluster.process(name).pid);
  cluster.kill(owner);
  await eventually(() => {
    expect(forgers.logOf(owner)).toMatch(
      new RegExp(
        `"exit_code":65.*that an owner is known to have written is ${sealed}\\. .* no owner has written the records from ${sealed + 1} on`,
      ),
    );
  }, 20_000);
  const told = await forgers.tool('journal', 'verify');
  expect([told.code, told.output]).toEqual([
    1,
    expect.stringContaining(`shard ${shard}: the last record that an owner has sealed is ${sealed}\n`),
  ]);
  const shown = await forgers.tool('journal', 'dump', '--shard', String(shard), '--from', String(sealed + 1));
  expect(JSON.parse(shown.output)).toMatchObject({
    sequence: sealed + 1,
    damaged: expect.stringContaining('its hash is not that of its content'),
    payload: { lazy: true },
  });

  await database.query('delete from journal.records where shard = $1 and sequence > $2', [shard, sealed]);
  await isReadyAgain(owner);
  await eventually(async () => expect(await said('projector')).toEqual({ status: 'ready' }), 20_000);
  await eventually(
    async () => expect(await figure('gateway-0', 'sotto_stream_stopped_shards')).toBe(0),
    20_000,
  );
  expect(['projector', 'gateway-0'].map((name) => cluster.process(name).pid)).toEqual(before);
  const mended = await forgers.tool('journal', 'verify');
  expect([mended.code, mended.output]).toEqual([0, expect.stringContaining('SOUND')]);
});

it('a gateway that starts with such a record serves the other shards, and opens no stream until it knows all', async () => {
  const [shard, other] = [2, 0];
  const sealed = await forgeLazily(shard);
  await cluster.restartOf('gateway-0', cluster.kill('gateway-0'));
  const floor = new StreamFloor(cluster);
  const [originator, mia] = (await floor.traders('originator-1', 'maker-1')) as [Trader, Trader];
  const body = auctionBody(floor.contract('venue_a'), [mia]);
  const { auction_id: id } = mustBe(201, await originator.create(body, keyFor(originator, other)));
  await mia.quotes(id, 400_000, 1);
  await expect(floor.listen('maker-1')).rejects.toMatchObject({
    status: 503,
    text: '{"error":"auction_owner_unavailable"}',
  });
  await database.query('delete from journal.records where shard = $1 and sequence > $2', [shard, sealed]);
  await eventually(() => floor.listen('maker-1'), 20_000);
  floor.close();
});

/** The process that is just starting may be the first to see that it is gone. */
async function isReadyAgain(owner: string): Promise<void> {
  await eventually(async () => expect(await said(owner)).toEqual({ status: 'ready' }), 30_000);
}

async function said(name: string): Promise<unknown> {
  return await (await fetch(cluster.process(name).health_url.replace('/healthz', '/readyz'))).json();
}

async function figure(name: string, metric: string): Promise<number> {
  const figures = await (await fetch(cluster.process(name).metrics_url)).text();
  return Number(new RegExp(`^${metric}(?:\\{[^}]*\\})? (\\S+)$`, 'm').exec(figures)?.[1]);
}

/** Sends the withdrawn quote again: it breaks no rule, and it would win. Returns its sequence. */
async function forgeQuote(id: string, shard: number): Promise<number> {
  const { rows } = await database.query<{ payload: string }>(
    `select payload from journal.records where shard = $1 and payload like '%QUOTE_SUBMITTED%' and payload like '%' || $2 || '%'
     order by sequence desc limit 1`,
    [shard, id],
  );
  const quoted = rows[0]!.payload;
  const quoteId = /"quote_id":"([^"]+)"/.exec(quoted)![1]!;
  const other = `${quoteId.slice(0, -4)}${quoteId.endsWith('0000') ? '1111' : '0000'}`;
  const now = `${new Date().toISOString().slice(0, -1)}000000Z`;
  const payload = quoted
    .replaceAll(quoteId, other)
    .replace(/"(at|submitted_at)":"[^"]+"/g, (_, field: string) => `"${field}":"${now}"`)
    .replace(/"key":"[^"]+"/, '"key":"forged"');
  const head = await headOf(shard);
  const entry = linkEvent(shard, head, payload);
  const login = new pg.Client({ connectionString: loginOf(`owner-${shard}`) });
  await login.connect();
  await login.query(
    `insert into journal.records (family, shard, sequence, epoch, kind, payload, hash) values ('auction', $1, $2, $3, 'event', $4, decode($5, 'hex'))`,
    [shard, entry.sequence, entry.epoch, payload, entry.hash],
  );
  await login.end();
  return entry.sequence;
}

/** Appends a record that fits no state, with an owner's login. Returns the sequence of the record before it. */
async function forgeLazily(shard: number): Promise<number> {
  const { sequence: sealed, epoch } = await headOf(shard);
  const login = new pg.Client({ connectionString: loginOf(`owner-${shard}`) });
  await login.connect();
  await login.query(
    `insert into journal.records (family, shard, sequence, epoch, kind, payload, hash) values ('auction', $1, $2, $3, 'event', '{"lazy":true}', $4)`,
    [shard, sealed + 1, epoch, Buffer.alloc(32, 7)],
  );
  await login.end();
  return sealed;
}

/** The login of an attacker with an owner's environment, but without its keys. */
function loginOf(name: string): string {
  return environmentOf(name)
    .find((line) => line.startsWith('DATABASE_URL='))!
    .slice('DATABASE_URL='.length);
}

function environmentOf(name: string): string[] {
  return readFileSync(`/proc/${cluster.process(name).pid}/environ`, 'utf8').split('\0');
}

async function headOf(shard: number): Promise<JournalHead> {
  const { rows } = await database.query<JournalHead>(
    `select epoch, sequence::int, encode(hash, 'hex') as hash from journal.records where shard = $1 order by sequence desc limit 1`,
    [shard],
  );
  return rows[0]!;
}
