import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { plusMillis } from '#libs/base/instant.js';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database/test-database.js';
import { admissionMigrations } from '../migrations/list.js';
import { listContracts, setContractStatus } from './contract-registry.js';
import { loadPolicy } from './load-policy.js';
import { MakerGroups, MAX_GROUPS, MAX_MEMBERS } from './maker-groups.js';
import { readFreezes } from '../freezes.js';
import { MakerProtection } from './maker-protection.js';
import { listMakers, ownPolicy } from './principals.js';
import { seedContracts, seedPolicy } from './seed-policy.js';
import { contract, principal } from './snapshot.fixture.js';

const NOON = '2026-11-20T12:00:00.000000000Z';
let database: TestDatabase;

function seed(id: string, more: Partial<ReturnType<typeof principal>> = {}) {
  const { venues, ...rest } = principal(id, more);
  return { ...rest, venues: [...venues] };
}

function uuid(n: number): string {
  return `00000000-0000-8000-8000-${String(n).padStart(12, '0')}`;
}

beforeAll(async () => {
  database = await createTestDatabase(admissionMigrations);
  await seedPolicy(database.pool, [
    seed('maker-1'),
    seed('maker-2'),
    seed('maker-3', { suspended: true }),
    seed('originator-1'),
  ]);
  await seedContracts(
    database.pool,
    ['venue_b', 'venue_a', 'venue_c'].flatMap((venue) =>
      ['YES', 'NO'].map((outcome) => contract(venue, { outcome })),
    ),
  );
});
afterAll(() => database.drop());

describe('contract registry', () => {
  it('pages by its key, each contract once', async () => {
    const first = await listContracts(database.pool, { limit: 4 });
    const last = first.at(-1);
    if (last === undefined) throw new Error('empty page');
    const second = await listContracts(database.pool, { limit: 4, after: last });
    expect([...first, ...second].map((row) => `${row.venue}/${row.outcome}`)).toEqual([
      'venue_a/NO',
      'venue_a/YES',
      'venue_b/NO',
      'venue_b/YES',
      'venue_c/NO',
      'venue_c/YES',
    ]);
    expect(await listContracts(database.pool, { venue: 'venue_b', limit: 4 })).toHaveLength(2);
    expect(first[1]).toEqual(contract('venue_a'));
  });

  it('never reopens a closed contract, not even by a second seed', async () => {
    expect(await setContractStatus(database.pool, contract('venue_c'), 'CLOSED')).toBe(true);
    expect(await setContractStatus(database.pool, contract('venue_c'), 'TRADING')).toBe(false);
    await seedContracts(database.pool, [contract('venue_c')]);
    const [, closed] = await listContracts(database.pool, { venue: 'venue_c', limit: 2 });
    expect(closed?.status).toBe('CLOSED');
  });
});

describe('principals', () => {
  it('lists makers that may be invited, and shows each account only its own entitlement', async () => {
    expect((await listMakers(database.pool)).map((maker) => maker.market_maker_id)).toEqual([
      'maker-1',
      'maker-2',
    ]);
    expect(await ownPolicy(database.pool, 'maker-1')).toMatchObject({
      entitled_venues: ['venue_a', 'venue_b'],
    });
    expect(await ownPolicy(database.pool, 'unknown')).toEqual({
      display_name: '',
      entitled_venues: [],
      max_quantity_atoms: 0,
    });
  });
});

describe('maker groups', () => {
  const owner = 'originator-1';

  it('are private to their owner', async () => {
    const groups = new MakerGroups(database.pool);
    const group = { group_id: uuid(1), owner, name: 'friends', market_maker_ids: ['maker-2', 'maker-1'] };
    const sorted = { ...group, market_maker_ids: ['maker-1', 'maker-2'] };
    expect(await groups.create(group)).toEqual({ ok: true, group: sorted });
    expect(await groups.list(owner)).toEqual([sorted]);
    expect(await groups.list('originator-2')).toEqual([]);
    const stolen = { ...group, owner: 'originator-2' };
    expect(await groups.replace(stolen)).toEqual({ ok: false, fault: 'GROUP_UNKNOWN' });
    expect(await groups.remove('originator-2', group.group_id)).toBe(false);
    expect(await groups.replace({ ...group, name: 'few', market_maker_ids: ['maker-1'] })).toMatchObject({
      ok: true,
    });
    expect((await loadPolicy(database.pool)).groups.get(group.group_id)?.market_maker_ids).toEqual([
      'maker-1',
    ]);
    expect(await groups.remove(owner, group.group_id)).toBe(true);
    expect(await groups.list(owner)).toEqual([]);
  });

  it('are limited in number and size, and contain known makers only', async () => {
    const groups = new MakerGroups(database.pool);
    const group = { group_id: uuid(2), owner, name: 'g', market_maker_ids: ['maker-1'] };
    const crowd = Array.from({ length: MAX_MEMBERS + 1 }, (_, index) => `maker-${index}`);
    expect(await groups.create({ ...group, market_maker_ids: crowd })).toEqual({
      ok: false,
      fault: 'TOO_MANY_MEMBERS',
    });
    expect(await groups.create({ ...group, market_maker_ids: ['originator-1'] })).toMatchObject({
      fault: 'MEMBER_UNKNOWN',
    });
    const created = await Promise.all(
      Array.from({ length: MAX_GROUPS + 5 }, (_, index) =>
        groups.create({ ...group, group_id: uuid(100 + index) }),
      ),
    );
    expect(created.filter((result) => result.ok)).toHaveLength(MAX_GROUPS);
  });
});

describe('market maker protection', () => {
  const settings = { window_ms: 1_000, max_awards: 3, max_award_notional_atoms: 500, frozen_ms: 60_000 };
  const award = (n: number, at: number, notional = 1) => ({
    award_id: uuid(n),
    maker: 'maker-1',
    notional_atoms: notional,
    awarded_at: plusMillis(NOON, at),
  });

  it('trips when a window reaches the maximum, counting each award once', async () => {
    const protection = new MakerProtection(database.pool);
    expect(await protection.record([award(1, 0)])).toEqual([]);
    await protection.change('maker-1', settings, plusMillis(NOON, -1));
    expect(await protection.settings('maker-1')).toEqual(settings);
    expect(await protection.record([award(2, 0), award(3, 10)])).toEqual([]);
    expect(await protection.record([award(3, 10)])).toEqual([]);
    expect(await protection.record([award(4, 1_000)])).toEqual([]);
    expect(await protection.record([award(5, 1_005)])).toEqual(['maker-1']);
    const { frozen } = await loadPolicy(database.pool);
    expect(frozen.get('maker-1')).toBe(plusMillis(NOON, 61_005));
  });

  it('counts from zero again after a reset by its maker', async () => {
    const protection = new MakerProtection(database.pool);
    await protection.reset('maker-1', plusMillis(NOON, 1_005));
    expect((await loadPolicy(database.pool)).frozen.size).toBe(0);
    expect(await protection.record([award(6, 1_006, 499)])).toEqual([]);
    expect(await protection.record([award(7, 1_007, 1)])).toEqual(['maker-1']);
  });

  it('counts nothing while it is off, forgets earlier counts, and does not end a freeze', async () => {
    const protection = new MakerProtection(database.pool);
    await protection.reset('maker-1', plusMillis(NOON, 1_007));
    await protection.change('maker-1', { ...settings, max_awards: 2 }, NOON);
    expect(await protection.record([award(8, 2_000)])).toEqual([]);
    await protection.switchOff('maker-1');
    expect(await protection.settings('maker-1')).toBeUndefined();
    expect(await protection.record([award(9, 2_001), award(10, 2_002)])).toEqual([]);
    await protection.change('maker-1', { ...settings, max_awards: 2 }, plusMillis(NOON, 2_002));
    expect(await protection.record([award(11, 2_003)])).toEqual([]);
    expect(await protection.record([award(12, 2_004)])).toEqual(['maker-1']);
    await protection.switchOff('maker-1');
    expect([...(await readFreezes(database.pool, ['maker-1', 'maker-2'])).keys()]).toEqual(['maker-1']);
    await protection.reset('maker-1', plusMillis(NOON, 2_004));
    expect(await readFreezes(database.pool, ['maker-1'])).toEqual(new Map());
  });

  describe('judges every window that contains an award reported late', () => {
    const late = { ...settings, window_ms: 100, max_awards: 2, frozen_ms: 1_000 };
    const maker = 'maker-2';
    const won = (n: number, at: number) => ({ ...award(n, at), maker });
    const frozenUntil = async () => (await readFreezes(database.pool, [maker])).get(maker);
    let protection: MakerProtection;
    let next = 100;

    beforeEach(async () => {
      protection = new MakerProtection(database.pool);
      await database.pool.query('delete from control.protection_awards where account_id = $1', [maker]);
      await protection.switchOff(maker);
      await protection.reset(maker, NOON);
      await protection.change(maker, late, plusMillis(NOON, -1));
    });
    const id = (): number => (next += 1);

    it('including a window that ended before the latest award', async () => {
      expect(await protection.record([won(id(), 0), won(id(), 50), won(id(), 9_000)])).toEqual([maker]);
      expect(await frozenUntil()).toBe(plusMillis(NOON, 1_050));
    });

    it('including a window that ends with an award counted earlier', async () => {
      expect(await protection.record([won(id(), 50)])).toEqual([]);
      expect(await protection.record([won(id(), 0)])).toEqual([maker]);
      expect(await frozenUntil()).toBe(plusMillis(NOON, 1_050));
    });

    it('but no stretch longer than a window', async () => {
      expect(await protection.record([won(id(), 9_000)])).toEqual([]);
      expect(await protection.record([won(id(), 0)])).toEqual([]);
      expect(await protection.record([won(id(), 100)])).toEqual([]);
      expect(await frozenUntil()).toBeUndefined();
    });

    it('but no award from before a reset or before it was switched on, whenever it is reported', async () => {
      const [first, second] = [won(id(), 0), won(id(), 50)];
      await protection.record([first, second]);
      await protection.reset(maker, plusMillis(NOON, 40));
      expect(await protection.record([first, second, won(id(), 10), won(id(), 60)])).toEqual([]);
      await protection.switchOff(maker);
      await protection.change(maker, late, plusMillis(NOON, 60));
      expect(await protection.record([won(id(), 55), won(id(), 70)])).toEqual([]);
      expect(await frozenUntil()).toBeUndefined();
    });

    it('but does not judge known awards again under later settings', async () => {
      const first = won(id(), 0);
      await protection.record([first]);
      await protection.change(maker, { ...late, max_awards: 1 }, plusMillis(NOON, 10));
      expect(await protection.record([first])).toEqual([]);
      expect(await protection.record([won(id(), 20)])).toEqual([maker]);
    });
  });
});
