import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database/test-database.js';
import { amidOthers, awaitTurn } from './migration-turn.js';

const LOCK = 4_711;
const SHORT = { turnMs: 300, lockMs: 300 };

let database: TestDatabase;
const sessions: pg.Client[] = [];

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(async () => {
  await Promise.all(sessions.map((session) => session.end()));
  await database.drop();
});

async function session(): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: database.url });
  sessions.push(client);
  await client.connect();
  return client;
}

describe('the lock of migrations', () => {
  it('is waited for with a log line, times out, and is free when the other session releases it', async () => {
    const [first, second] = [await session(), await session()];
    const lines: string[] = [];
    const report = (line: string): void => {
      lines.push(line);
    };
    await awaitTurn(first, LOCK, report);
    await expect(awaitTurn(second, LOCK, report, SHORT)).rejects.toMatchObject({ exitCode: 69 });
    expect(lines).toEqual(['waiting for another migration to end']);
    const waiting = awaitTurn(second, LOCK, report);
    await first.query('select pg_advisory_unlock($1)', [LOCK]);
    await waiting;
  });
});

describe('a migration step that other sessions block', () => {
  const interference = (): Promise<void> =>
    Promise.reject(Object.assign(new Error('tuple concurrently updated'), { code: 'XX000' }));

  it('is retried', async () => {
    let attempts = 0;
    await amidOthers(() => {
      attempts += 1;
      return attempts < 3 ? interference() : Promise.resolve();
    });
    expect(attempts).toBe(3);
  });

  it('again and again fails with exit code 69, and not as damage', async () => {
    await expect(amidOthers(interference)).rejects.toMatchObject({ exitCode: 69 });
  });
});
