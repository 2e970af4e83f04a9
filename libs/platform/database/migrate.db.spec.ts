import { spawnSync } from 'node:child_process';
import { openSync } from 'node:fs';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import type { MigrationInterface, QueryRunner } from 'typeorm';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database/test-database.js';
import { migrate } from './migrate.js';

class First1790000000001 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('create schema probe');
    await runner.query('create table probe.step (n int8)');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop schema probe cascade');
  }
}

class Second1790000000002 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('insert into probe.step values (2)');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('delete from probe.step');
  }
}

class Broken1790000000003 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('insert into probe.step values (3)');
    await runner.query('select nonsense');
  }

  async down(): Promise<void> {
    await Promise.resolve();
  }
}

let database: TestDatabase;
const lines: object[] = [];
const log = {
  info: (fields: object): void => {
    lines.push(fields);
  },
};

beforeEach(async () => {
  lines.length = 0;
  database = await createTestDatabase();
});

afterEach(() => database.drop());

async function steps(): Promise<number[]> {
  const { rows } = await database.pool.query<{ n: number }>('select n from probe.step order by n');
  return rows.map((row) => row.n);
}

it('applies missing migrations once and in order', async () => {
  await migrate(database.url, [First1790000000001], log);
  await migrate(database.url, [Second1790000000002, First1790000000001], log);
  await migrate(database.url, [Second1790000000002, First1790000000001], log);
  expect(await steps()).toEqual([2]);
  expect(lines).toEqual([{ migration: 'First1790000000001' }, { migration: 'Second1790000000002' }]);
  const recorded = await database.pool.query('select name from meta.migration order by timestamp');
  expect(recorded.rows).toEqual([{ name: 'First1790000000001' }, { name: 'Second1790000000002' }]);
});

it('can be called by several processes at once', async () => {
  const all = [First1790000000001, Second1790000000002];
  await Promise.all([1, 2, 3, 4].map(() => migrate(database.url, all, log)));
  expect(await steps()).toEqual([2]);
});

it('leaves the database of a newer release unchanged, and names the newer migrations', async () => {
  await migrate(database.url, [First1790000000001, Second1790000000002], log);
  expect(await migrate(database.url, [First1790000000001], log)).toEqual(['Second1790000000002']);
  expect(await migrate(database.url, [First1790000000001, Second1790000000002], log)).toEqual([]);
});

it('changes nothing in a database with other migrations', async () => {
  await migrate(database.url, [First1790000000001], log);
  await expect(migrate(database.url, [Second1790000000002], log)).rejects.toMatchObject({
    exitCode: 78,
    message: expect.stringMatching(/does not know \(First.*lacks some of its own \(Second/),
  });
  expect(await steps()).toEqual([]);
});

it('rolls back a migration that failed', async () => {
  const all = [First1790000000001, Second1790000000002, Broken1790000000003];
  await expect(migrate(database.url, all, log)).rejects.toThrow('nonsense');
  expect(await steps()).toEqual([2]);
});

it('reports a refusal of the database in one line, with an exit code for its kind of fault', async () => {
  const url = new URL(database.url);
  const role = `${url.pathname.slice(1)}_stranger`;
  await database.pool.query('drop schema meta cascade');
  await database.pool.query(`create role ${role} login password 'a-password-of-his-own'`);
  url.username = role;
  url.password = 'a-password-of-his-own';
  await expect(migrate(url.href, [First1790000000001], log)).rejects.toMatchObject({
    exitCode: 78,
    message: expect.stringMatching(/^the schema cannot be brought up to date: permission denied/),
  });
  const tool = ['dist/apps/cli/main.js', 'migrate'];
  const env = { PATH: process.env.PATH, DATABASE_URL: url.href };
  const { status, stdout, stderr } = spawnSync(process.execPath, tool, { env, encoding: 'utf8' });
  expect([status, stderr]).toEqual([78, '']);
  expect(JSON.parse(stdout)).toMatchObject({ level: 'fatal', exit_code: 78 });
  await database.pool.query(`drop role ${role}`);
  const broken = [First1790000000001, Broken1790000000003];
  await expect(migrate(database.url, broken, log)).rejects.toMatchObject({ exitCode: 65 });
});

it('migrates also if standard output is full, and reports that it could not log', async () => {
  const env = { PATH: process.env.PATH, DATABASE_URL: database.url };
  const { status, stderr } = spawnSync(process.execPath, ['dist/apps/cli/main.js', 'migrate'], {
    env,
    encoding: 'utf8',
    stdio: ['ignore', openSync('/dev/full', 'w'), 'pipe'],
  });
  expect([status, stderr]).toEqual([
    69,
    'migrate: cannot use standard output: no space left on the device\n',
  ]);
  const { rows } = await database.pool.query(`select to_regclass('journal.records') is not null as made`);
  expect(rows).toEqual([{ made: true }]);
});
