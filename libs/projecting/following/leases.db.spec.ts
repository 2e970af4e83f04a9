import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { eventually } from '#libs/testing/eventually.js';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database/test-database.js';
import { ShardLeases } from './leases.js';

const SHARDS = [0, 1, 2];
const IDLE_MS = 600;

let database: TestDatabase;
const all: ShardLeases[] = [];

beforeAll(async () => {
  database = await createTestDatabase();
});

afterAll(() => {
  for (const leases of all) leases.release();
  return database.drop();
});

it('leases are kept while they are renewed, and go to others after they were not renewed for long', async () => {
  const [first, second] = [0, 1].map(() => new ShardLeases(database.pool, 'tally', SHARDS, IDLE_MS)) as [
    ShardLeases,
    ShardLeases,
  ];
  all.push(first, second);
  for (let times = 7; times > 0; times -= 1) {
    expect([...(await first.renew())]).toEqual(SHARDS);
    expect([...(await second.renew())]).toEqual([]);
    await sleep(IDLE_MS / 5);
  }
  await eventually(async () => expect([...(await second.renew())].sort()).toEqual(SHARDS), 4_000);
  await expect(first.renew()).rejects.toThrow();
  expect([...(await first.renew())]).toEqual([]);
  second.release();
  await eventually(async () => expect([...(await first.renew())].sort()).toEqual(SHARDS), 4_000);
}, 20_000);
