import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Cancel, Clock } from '#libs/platform/time/clock.js';
import { openPool } from '#libs/platform/database/postgres.js';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database/test-database.js';
import { admissionMigrations } from '../migrations/list.js';
import { setContractStatus } from './contract-registry.js';
import { Halts } from './halts.js';
import { PolicyWatch } from './policy-watch.js';
import { contractKey, type PolicySnapshot } from './policy-snapshot.js';
import { seedContracts, seedPolicy } from './seed-policy.js';
import { contract, principal } from './snapshot.fixture.js';

/** A clock that the test moves by hand. Timers run only when the test asks. */
class HandClock implements Clock {
  private millis = 0n;
  private action: (() => void) | undefined;

  epochNanos(): bigint {
    return this.monotonicNanos();
  }

  monotonicNanos(): bigint {
    return this.millis * 1_000_000n;
  }

  after(_millis: number, action: () => void): Cancel {
    this.action = action;
    return () => {
      this.action = undefined;
    };
  }

  pass(millis: bigint): void {
    this.millis += millis;
  }

  poll(): void {
    const { action } = this;
    this.action = undefined;
    action?.();
  }

  async polled(): Promise<void> {
    this.poll();
    while (this.action === undefined) await new Promise((resolve) => setImmediate(resolve));
  }
}

const HALT = {
  halt_id: '00000000-0000-8000-8000-000000000001',
  scope: 'VENUE' as const,
  target: 'venue_a',
  what: ['CREATE' as const],
  reason: 'drill',
  by: 'operator-1',
  created_at: '2026-11-20T12:00:00.123456000Z',
};

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase(admissionMigrations);
  await seedContracts(database.pool, [contract('venue_a'), contract('venue_b')]);
  const { venues, ...maker } = principal('maker-1');
  await seedPolicy(database.pool, [{ ...maker, venues: [...venues], control_group: 'house' }]);
});
afterAll(() => database.drop());

function snapshotOf(watch: PolicyWatch): PolicySnapshot {
  const current = watch.current();
  if (!current.ok) throw new Error(current.error);
  return current.snapshot;
}

describe('policy watch', () => {
  it('loads the whole policy, and refuses until it has', async () => {
    const watch = new PolicyWatch(database.pool, new HandClock());
    expect(watch.current()).toMatchObject({ ok: false, error: 'AUTHORITY_EVIDENCE_STALE' });
    await watch.start();
    const snapshot = snapshotOf(watch);
    expect(snapshot.contracts.get(contractKey(contract('venue_a')))).toEqual(contract('venue_a'));
    expect(snapshot.principals.get('maker-1')).toEqual(principal('maker-1', { control_group: 'house' }));
    watch.stop();
  });

  it('follows changes, reloads only changed parts, and notifies its listeners', async () => {
    const clock = new HandClock();
    const watch = new PolicyWatch(database.pool, clock);
    await watch.start();
    const before = snapshotOf(watch);
    const notified: number[] = [];
    watch.onChange((snapshot) => notified.push(snapshot.version));
    const halts = new Halts(database.pool);
    await clock.polled();
    expect(snapshotOf(watch)).toBe(before);
    await halts.impose(HALT, 'request-1');
    await clock.polled();
    const halted = snapshotOf(watch);
    expect(halted.halts).toEqual([HALT]);
    expect(halted.contracts).toBe(before.contracts);
    await halts.lift(HALT.halt_id, {
      by: 'operator-1',
      request_id: 'request-3',
      at: '2026-11-20T12:05:00.000000000Z',
    });
    await setContractStatus(database.pool, contract('venue_b'), 'PAUSED');
    await clock.polled();
    const after = snapshotOf(watch);
    expect(after.halts).toEqual([]);
    expect(after.contracts.get(contractKey(contract('venue_b')))?.status).toBe('PAUSED');
    expect(notified).toEqual([halted.version, after.version]);
    watch.stop();
  });

  it('reads at once for a caller that has just made a change, and shares one read among many callers', async () => {
    const clock = new HandClock();
    const watch = new PolicyWatch(database.pool, clock);
    await watch.start();
    const halts = new Halts(database.pool);
    const halt = { ...HALT, halt_id: '00000000-0000-4000-8000-00000000ffff' };
    const early = watch.freshen();
    await halts.impose(halt, 'request-2');
    await Promise.all(Array.from({ length: 20 }, () => watch.freshen()));
    expect(snapshotOf(watch).halts).toContainEqual(halt);
    await early;
    expect(snapshotOf(watch).halts).toContainEqual(halt);
    watch.stop();
  });

  it('refuses when no poll succeeded within the limit, and recovers', async () => {
    const clock = new HandClock();
    const pool = openPool(database.url, { applicationName: 'sotto-test-watch', max: 1 });
    const watch = new PolicyWatch(pool, clock);
    await watch.start();
    clock.pass(3_000n);
    expect(watch.current().ok).toBe(true);
    clock.pass(1n);
    expect(watch.current()).toMatchObject({ error: 'AUTHORITY_EVIDENCE_STALE' });
    await clock.polled();
    expect(watch.current().ok).toBe(true);
    await pool.end();
    clock.pass(3_001n);
    await clock.polled();
    expect(watch.current()).toMatchObject({ error: 'AUTHORITY_EVIDENCE_STALE' });
    watch.stop();
  });

  it.each([
    'contracts',
    'principals',
    'accounts_policy',
    'halts',
    'groups',
    'group_members',
    'protection_state',
  ])('refuses when %s cannot be read, although no version has changed', async (table) => {
    const clock = new HandClock();
    const watch = new PolicyWatch(database.pool, clock);
    await watch.start();
    const known = snapshotOf(watch);
    const faults: unknown[] = [];
    watch.tellFaults((error) => faults.push(error));
    await database.pool.query(`alter table control.${table} rename to away`);
    clock.pass(2_000n);
    await clock.polled();
    await clock.polled();
    expect(String(faults)).toMatch(new RegExp(`^error: relation "control.${table}" does not exist$`));
    clock.pass(1_001n);
    expect(watch.current()).toMatchObject({ error: 'AUTHORITY_EVIDENCE_STALE' });
    await database.pool.query(`alter table control.away rename to ${table}`);
    await clock.polled();
    expect(snapshotOf(watch)).toBe(known);
    watch.stop();
  });

  it('refuses when it may not read a table', async () => {
    const role = `watch_${process.pid}`;
    await database.pool.query(`create role ${role} login password 'watch'`);
    await database.pool.query(
      `grant usage on schema control to ${role}; grant select on all tables in schema control to ${role}`,
    );
    const url = new URL(database.url);
    [url.username, url.password] = [role, 'watch'];
    const pool = openPool(url.href, { applicationName: 'sotto-test-watch', max: 1 });
    const clock = new HandClock();
    const watch = new PolicyWatch(pool, clock);
    await watch.start();
    for (const table of ['accounts_policy', 'group_members']) {
      await database.pool.query(`revoke select on control.${table} from ${role}`);
      clock.pass(3_001n);
      await clock.polled();
      expect(watch.current()).toMatchObject({ error: 'AUTHORITY_EVIDENCE_STALE' });
      await database.pool.query(`grant select on control.${table} to ${role}`);
      await clock.polled();
      expect(watch.current().ok).toBe(true);
    }
    watch.stop();
    await pool.end();
    await database.pool.query(
      `revoke all on all tables in schema control from ${role}; revoke usage on schema control from ${role}; drop role ${role}`,
    );
  });
});
