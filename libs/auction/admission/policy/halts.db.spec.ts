import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database/test-database.js';
import { admissionMigrations } from '../migrations/list.js';
import { Halts } from './halts.js';
import { readableVersion } from './load-policy.js';
import { OperatorActions } from './operator-actions.js';
import type { Halt } from './policy-snapshot.js';
import { seedContracts, seedPolicy } from './seed-policy.js';
import { contract, principal } from './snapshot.fixture.js';

const NOON = '2026-11-20T12:00:00.000000000Z';
let database: TestDatabase;
let halts: Halts;
let actions: OperatorActions;

beforeAll(async () => {
  database = await createTestDatabase(admissionMigrations);
  halts = new Halts(database.pool);
  actions = new OperatorActions(database.pool);
  await seedContracts(database.pool, [contract('venue_a')]);
  const { venues, ...operator } = principal('operator-1', { display_name: 'Olive' });
  await seedPolicy(database.pool, [{ ...operator, venues: [...venues] }]);
});
afterAll(() => database.drop());

function halt(n: number, more: Partial<Halt> = {}): Halt {
  return {
    halt_id: `00000000-0000-8000-8000-${String(n).padStart(12, '0')}`,
    scope: 'VENUE',
    target: 'venue_a',
    what: ['CREATE', 'QUOTE'],
    reason: 'drill',
    by: 'operator-1',
    created_at: NOON,
    ...more,
  };
}

async function logged(): Promise<unknown[]> {
  const entries = await actions.page(50);
  return entries.map(({ action, target, by, request_id, outcome }) => [
    action,
    target,
    by,
    request_id,
    outcome,
  ]);
}

describe('halts', () => {
  it('are logged with the operator who imposed or lifted them, in the same transaction', async () => {
    const before = await readableVersion(database.pool);
    const imposed = await halts.impose(halt(1), 'request-1');
    expect(imposed).toEqual({ ok: true, halt: halt(1), repeated: false, version: before + 1 });
    expect(await halts.list()).toEqual([{ ...halt(1), display_name: 'Olive' }]);
    const lifting = { by: 'operator-2', request_id: 'request-2', at: NOON };
    expect(await halts.lift(halt(1).halt_id, lifting)).toBe(before + 2);
    expect(await halts.lift(halt(1).halt_id, lifting)).toBeUndefined();
    expect(await halts.list()).toEqual([]);
    expect(await logged()).toEqual([
      ['LIFT_HALT', halt(1).halt_id, 'operator-2', 'request-2', 'DONE'],
      ['IMPOSE_HALT', halt(1).halt_id, 'operator-1', 'request-1', 'DONE'],
    ]);
    const [, entry] = await actions.page(2);
    expect(entry).toMatchObject({
      display_name: 'Olive',
      halt: { scope: 'VENUE', target: 'venue_a', what: ['CREATE', 'QUOTE'] },
      reason: 'drill',
    });
  });

  it('that cannot be logged are not imposed', async () => {
    await database.pool.query(
      'alter table control.operator_actions add constraint full_book check (false) not valid',
    );
    try {
      await expect(halts.impose(halt(2), 'request-3')).rejects.toThrow('full_book');
      expect(await halts.list()).toEqual([]);
    } finally {
      await database.pool.query('alter table control.operator_actions drop constraint full_book');
    }
  });

  it("are imposed once when the same operator repeats them; another operator's halt is separate", async () => {
    const repeats = await Promise.all(
      [3, 4, 5, 6].map((n) =>
        halts.impose(halt(n, { what: n % 2 === 0 ? ['CREATE', 'QUOTE'] : ['QUOTE', 'CREATE'] }), `r-${n}`),
      ),
    );
    const ids = repeats.map((result) => (result.ok ? result.halt.halt_id : result.fault));
    expect(new Set(ids).size).toBe(1);
    expect(repeats.filter((result) => result.ok && !result.repeated)).toHaveLength(1);
    await halts.impose(halt(7, { by: 'operator-2' }), 'r-7');
    await halts.impose(halt(8, { reason: 'another' }), 'r-8');
    await halts.impose(halt(9, { what: ['QUOTE'] }), 'r-9');
    expect(await halts.list()).toHaveLength(4);
  });

  it.each<[Halt['scope'], string]>([
    ['VENUE', 'venue_z'],
    ['MARKET', 'snow'],
    ['PRINCIPAL', 'unknown'],
  ])('of an unknown %s are refused', async (scope, target) => {
    const refused = await halts.impose(halt(10, { scope, target }), 'request-10');
    expect(refused).toEqual({ ok: false, fault: 'TARGET_UNKNOWN' });
  });
});

describe("the log of operators' actions", () => {
  it('pages backwards and never changes an entry', async () => {
    const all = await actions.page(50);
    const first = await actions.page(3);
    const rest = await actions.page(50, first.at(-1)?.entry);
    expect([...first, ...rest]).toEqual(all);
    for (const change of [
      'update control.operator_actions set reason = null',
      'delete from control.operator_actions',
      'truncate control.operator_actions',
    ]) {
      await expect(database.pool.query(change)).rejects.toThrow('append-only');
    }
    expect(await actions.page(50)).toEqual(all);
  });

  it('holds one intent and one outcome of an action', async () => {
    const action = {
      action_id: '10000000-0000-4000-8000-000000000001',
      action: 'DRAIN_SHARD',
      by: 'operator-1',
      target: '1',
      request_id: 'request-20',
    } as const;
    await actions.enter(action, 'ASKED');
    await actions.enter(action, 'UNKNOWN', 'auction_owner_unavailable');
    await expect(actions.enter(action, 'ASKED')).rejects.toThrow('operator_actions_asked');
    await expect(actions.enter(action, 'DONE')).rejects.toThrow('operator_actions_ended');
    const [ended, asked] = await actions.page(2);
    expect([ended!.outcome, ended!.error, asked!.outcome]).toEqual([
      'UNKNOWN',
      'auction_owner_unavailable',
      'ASKED',
    ]);
    expect(ended).not.toHaveProperty('halt');
  });
});
