import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { admissionMigrations } from '#libs/auction/admission/migrations/list.js';
import { instantFromNanos } from '#libs/base/instant.js';
import { custodyMigrations } from '#libs/ledger/migrations/list.js';
import { seedBalances } from '#libs/ledger/seed.js';
import { SystemClock } from '#libs/platform/time/system-clock.js';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database/test-database.js';
import { checkEvidence } from './evidence.js';
import { Findings } from './findings.js';

const AT_A = { account: 'mia', venue: 'venue_a' };
let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase([...admissionMigrations, ...custodyMigrations]);
  const now = instantFromNanos(new SystemClock().epochNanos());
  const balances = [
    { ...AT_A, asset: '', amount: 1_000 },
    { ...AT_A, asset: 'snow/YES', amount: 300 },
  ];
  const limits = [
    { ...AT_A, resource: 'VENUE_POSITION_LIMIT' as const, amount: 500 },
    { account: 'mia', venue: '', resource: 'SERVICE_EXPOSURE_LIMIT' as const, amount: 9_000 },
  ];
  await seedBalances(database.pool, balances, limits, { now, evidenceTtlMillis: 60_000 });
});
afterAll(() => database.drop());

async function found(): Promise<readonly string[]> {
  const findings = new Findings();
  await checkEvidence(database.pool, findings);
  expect(findings.checked.get('looks at evidence')).toBe(1);
  return findings.violations;
}

it('finds nothing if the evidence equals the ledger and the room left of a position limit', async () => {
  expect(await found()).toEqual([]);
});

it('finds evidence without any balance', async () => {
  const change = `update risk.evidence set asset = $2 where resource = 'OUTCOME_TOKEN' and asset = $1`;
  await database.pool.query(change, ['snow/YES', 'rain/YES']);
  const [violation] = await found();
  expect(violation).toContain('stated as 0, and it is 300');
  await database.pool.query(
    'insert into risk.evidence select account_id, venue, resource, $1, amount, settled, source_sequence, risk_valid_until, authority_valid_until from risk.evidence where asset = $2',
    ['snow/YES', 'rain/YES'],
  );
  expect(await found()).toEqual([expect.stringContaining('stated as 300, and it is 0')]);
  await database.pool.query('delete from risk.evidence where asset = $1', ['rain/YES']);
});

it.each([
  ['COLLATERAL', 'stated as 1001, and it is 1000'],
  ['OUTCOME_TOKEN', 'stated as 301, and it is 300'],
  ['VENUE_POSITION_LIMIT', 'stated as 201, and it is 200'],
  ['SERVICE_EXPOSURE_LIMIT', 'stated as 9001, and it is 9000'],
])('finds evidence of %s that exceeds the balance', async (resource, words) => {
  const change = 'update risk.evidence set amount = amount + $2 where resource = $1';
  await database.pool.query(change, [resource, 1]);
  expect(await found()).toEqual([expect.stringContaining(words)]);
  await database.pool.query(change, [resource, -1]);
});
