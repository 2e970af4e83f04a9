import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';
import pg from 'pg';
import { identityMigrations } from '#libs/identity/migrations/list.js';
import { migrate } from '#libs/platform/database/migrate.js';
import { sharedLogin } from './database-logins.js';
import { planProcesses } from './processes.js';
import { makeSecrets } from './secrets.js';
import { Launches, SETTLE_MS } from '#libs/testing/cluster/launches.js';

let launches: Launches;

beforeEach(async () => {
  launches = await Launches.open();
});
afterEach(() => launches.close(), SETTLE_MS);

describe('one clear line without a stack trace', () => {
  it('for every wrong setting', async () => {
    const [code, lines] = await launches.refusal({
      PORT: '99999',
      GATEWAYS: 'x',
      LOAD_ACCOUNTS: 'makers:many',
    });
    expect(code).toBe(78);
    expect(lines.map((line) => line.split('=')[0])).toEqual([
      'sotto: PORT',
      'sotto: GATEWAYS',
      'sotto: LOAD_ACCOUNTS',
    ]);
    expect(await launches.refusal({ LISTEN_HOST: '0.0.0.0', LIMITS_FACTOR: '5' })).toEqual([
      78,
      [expect.stringContaining('loopback')],
    ]);
  });

  it('for every wrong setting of its processes, before anything starts', async () => {
    const [code, lines] = await launches.refusal({
      GATEWAYS: '99',
      LOG_LEVEL: 'loud',
      ACTIVE_AUCTION_LIMIT: '0',
      OWNER_TIMEOUT_MS: 'soon',
      SETTLEMENT_CONCURRENCY: '-1',
    });
    expect(code).toBe(78);
    expect(lines.map((line) => line.split('=')[0])).toEqual([
      'sotto: GATEWAYS',
      'sotto: LOG_LEVEL',
      'sotto: ACTIVE_AUCTION_LIMIT',
      'sotto: OWNER_TIMEOUT_MS',
      'sotto: SETTLEMENT_CONCURRENCY',
    ]);
    expect(await launches.refusal({ LIMITS_FACTOR: '2', INTERNAL_HOST: '192.0.2.1' })).toEqual([
      78,
      ['sotto: LIMITS_FACTOR=2 is wrong: limits hold unless INTERNAL_HOST is a loopback address'],
    ]);
    const kafka = { KAFKA_BROKERS: '127.0.0.1:1', KAFKA_SSL: 'true', KAFKA_SSL_CA: '/nowhere/ca.pem' };
    expect(await launches.refusal(kafka)).toEqual([78, [expect.stringContaining('KAFKA_SSL_CA')]]);
    expect(readdirSync(launches.folder)).toEqual([]);
  });

  it.each(['nowhere.invalid', '192.0.2.1'])(
    'for an address of another machine: %s',
    async (host) => {
      expect(await launches.refusal({ LISTEN_HOST: host })).toEqual([
        78,
        [
          expect.stringMatching(
            `^sotto: LISTEN_HOST="${host}" is wrong: it is not an address of this machine`,
          ),
        ],
      ]);
    },
    SETTLE_MS,
  );

  it.each(['/proc/sotto', '/proc/1', '/dev/null/sotto'])('for an impossible data folder: %s', async (at) => {
    expect(await launches.refusal({ DATA_DIR: at })).toEqual([69, [expect.stringContaining(at)]]);
  });

  it('for a port in use, before anything starts', async () => {
    const otherServer = createServer().listen(launches.port + 1, '127.0.0.1');
    await once(otherServer, 'listening');
    const [code, lines] = await launches.refusal({ GATEWAYS: '2' });
    otherServer.close();
    expect([code, lines]).toEqual([69, [expect.stringContaining(`127.0.0.1:${launches.port + 1} is taken`)]]);
    expect(readdirSync(launches.folder)).toEqual([]);
  });

  it('for a second start on the same folder', async () => {
    const first = await launches.launchReady();
    const [code, lines] = await launches.refusal({ PORT: String(launches.port + 3) });
    expect([code, lines]).toEqual([
      69,
      [expect.stringContaining(`in use by another start (process ${first.process.pid}`)],
    ]);
    expect(launches.isReady).toBe(true);
  }, 40_000);

  it('for a second cluster on the same database, which is not changed', async () => {
    const first = await launches.launchReady();
    const { database_url: url } = launches.cluster;
    const second = path.join(launches.folder, 'second');
    const inSecond = { DATABASE_URL: url, DATA_DIR: second, PORT: String(launches.port + 3) };
    expect(await launches.refusal(inSecond)).toEqual([
      69,
      [
        expect.stringMatching(
          `^sotto: the database is in use by another cluster .process ${first.process.pid}, port ${launches.port}.: stop that`,
        ),
      ],
    ]);
    expect(readdirSync(second)).toEqual(['logs']);
    expect(launches.isReady).toBe(true);
  }, 40_000);

  it('for a cluster whose database lock another took while it was disconnected', async () => {
    await launches.launchReady();
    const url = await launches.anotherDatabase();
    const displaced = await launches.launchBeside(url, 0);
    const rival = new pg.Client({ connectionString: url, application_name: 'sotto-cluster the rival' });
    await rival.connect();
    await rival.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
       where datname = current_database() and application_name like 'sotto-cluster process%'`,
    );
    await rival.query('select pg_advisory_lock(7210554321)');
    expect(await displaced.code).toBe(69);
    expect(displaced.output).toContain('sotto: the database is in use by another cluster (the rival)');
    expect(displaced.output).not.toMatch(/^\s+at /m);
    await rival.end();
  }, 60_000);

  it('for a damaged data folder', async () => {
    const first = await launches.launchReady();
    first.process.kill('SIGTERM');
    await first.code;
    const versionFile = path.join(launches.folder, 'postgres', 'data', 'PG_VERSION');
    const version = readFileSync(versionFile, 'utf8');
    for (const [content, message] of [
      ['garbage', 'is not a version'],
      ['9\n', 'made by PostgreSQL 9'],
    ] as const) {
      writeFileSync(versionFile, content);
      expect(await launches.refusal()).toEqual([65, [expect.stringContaining(message)]]);
    }
    rmSync(versionFile);
    expect(await launches.refusal()).toEqual([65, [expect.stringContaining('PG_VERSION is missing')]]);
    writeFileSync(versionFile, version);
    rmSync(path.join(launches.folder, 'postgres', 'data', 'global', 'pg_control'));
    expect(await launches.refusal()).toEqual([65, [expect.stringContaining('postgres.log')]]);
    writeFileSync(path.join(launches.folder, 'secrets.json'), '{}');
    expect(await launches.refusal()).toEqual([65, [expect.stringContaining('secrets.json is damaged')]]);
  }, 60_000);

  it('for secrets without their database, a database without its secrets, and one that cannot be read', async () => {
    const first = await launches.launchReady();
    await markAsServed(launches.cluster.database_url);
    first.process.kill('SIGTERM');
    await first.code;
    const [secrets, database] = ['secrets.json', 'postgres'].map((name) => path.join(launches.folder, name));
    renameSync(secrets!, `${secrets!}.aside`);
    expect(await launches.refusal()).toEqual([
      65,
      [expect.stringMatching(/secrets\.json .* is missing: put it back/)],
    ]);
    renameSync(`${secrets!}.aside`, secrets!);
    renameSync(database!, `${database!}.aside`);
    const alone = /secrets\.json belongs to a database that is not there .* DATABASE_URL/;
    expect(await launches.refusal()).toEqual([65, [expect.stringMatching(alone)]]);
    renameSync(`${database!}.aside`, database!);
    chmodSync(path.join(database!, 'data'), 0o000);
    // Reported by the server when root starts it as another user, else by the system.
    expect(await launches.refusal()).toEqual([
      expect.anything(),
      [expect.stringMatching(/permission denied/i)],
    ]);
    chmodSync(path.join(database!, 'data'), 0o700);
    await launches.launchReady();
  }, 60_000);

  it.each([
    ['cluster.json', 'folder', 69, 'it is a folder'],
    ['cluster.json.new', 'folder', 69, 'it is a folder'],
    ['secrets.json', 'folder', 65, 'it is a folder'],
    ['logs', 'file', 69, 'a part of the path is not a folder'],
    ['logs', 'link', 69, 'it is not a folder'],
    ['logs/postgres.log', 'folder', 69, 'it is a folder'],
    ['postgres', 'file', 65, 'it is not a folder'],
    ['postgres', 'link', 65, 'is missing'],
    ['postgres/data', 'file', 65, 'it is not a folder'],
    ['postgres/credentials.json', 'folder', 65, 'it is a folder'],
  ])(
    'for a data folder in which %s is a %s',
    async (name, kind, expected, reason) => {
      const place = path.join(launches.folder, name);
      mkdirSync(path.dirname(place), { recursive: true, mode: 0o711 });
      if (kind === 'folder') mkdirSync(place);
      else if (kind === 'file') writeFileSync(place, '');
      else symlinkSync(path.join(launches.folder, 'nowhere'), place);
      const refusal = await launches.refusal();
      rmSync(place, { recursive: true });
      expect(refusal).toEqual([expected, [expect.stringContaining(reason)]]);
    },
    SETTLE_MS,
  );

  it('for a data folder that is a file, and for a database that is not there', async () => {
    writeFileSync(path.join(launches.folder, 'file'), '');
    expect(await launches.refusal({ DATA_DIR: path.join(launches.folder, 'file') })).toEqual([
      69,
      [expect.stringContaining('file')],
    ]);
    const [code, lines] = await launches.refusal({
      DATABASE_URL: 'postgres://sotto:hunter2@127.0.0.1:1/sotto',
    });
    expect([code, lines]).toEqual([69, [expect.stringContaining('DATABASE_URL cannot be used')]]);
    expect(lines.join()).not.toContain('hunter2');
  });

  it.each([
    ['refuses', 78, 'ABSENT is not set'],
    ['damaged', 65, 'what it works on is damaged'],
  ])(
    'for a process that will not start: it %s',
    async (behaviour, expected, reason) => {
      const [code, lines] = await launches.refusal({ STAND_INS: `settler:${behaviour}` });
      expect(code).toBe(expected);
      // Ignores what the other processes say while they stop.
      expect(lines.filter((line) => !line.includes('last words'))).toEqual([
        expect.stringMatching(
          new RegExp(`settler does not start: .*${reason}.*exit code ${expected}.*settler\\.log`),
        ),
      ]);
      expect(launches.pids()).toEqual([]);
    },
    40_000,
  );
});

describe('LIMITS_FACTOR is refused on an address that other machines can reach', () => {
  const plans = planProcesses({
    databases: sharedLogin('postgres://sotto@127.0.0.1:1/sotto'),
    secrets: makeSecrets(),
    limitsFactor: 2,
    journalPath: undefined,
    listenHost: '127.0.0.1',
    publicPorts: { gateway: [1] },
    services: ['auction'],
    internalUrls: { owner: [1, 2, 3].map((port) => `http://127.0.0.1:${port}`) },
  });

  it.each([
    ['owner', 'INTERNAL_HOST'],
    ['gateway', 'INTERNAL_HOST'],
    ['gateway', 'LISTEN_HOST'],
  ])('by the %s itself (%s)', async (kind, host) => {
    const plan = plans.find((planned) => planned.kind.name === kind)!;
    const child = spawn(process.execPath, [path.resolve('dist/apps', plan.script)], {
      env: { PATH: process.env.PATH, ...plan.env, [host]: '192.0.2.1' },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const chunks: Buffer[] = [];
    child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
    const [code] = (await once(child, 'close')) as [number | null];
    expect(Buffer.concat(chunks).toString()).toContain(`limits hold unless ${host} is a loopback address`);
    expect(code).toBe(78);
  });
});

/** The row that a gateway writes before it first serves. */
async function markAsServed(databaseUrl: string): Promise<void> {
  await migrate(databaseUrl, identityMigrations, { info: () => undefined });
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  await client.query(
    `insert into identity.signing_keys (kid, sealed_private_key, created_at, active_from)
     values ('first', '\\x00', now(), now())`,
  );
  await client.end();
}
