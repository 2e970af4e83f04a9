import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Need } from '../../rules/holds.js';
import type { Hold } from '../../rules/terms.js';
import { SystemClock } from '#libs/platform/time/system-clock.js';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database/test-database.js';
import { ReservationFault, type ReserveOutcome, type ReserveRequest } from '../reservation-desk.js';
import { EvidenceInvalid } from './evidence.js';
import { admissionMigrations } from '../migrations/list.js';
import { funded, PLENTY, stateEvidence } from './evidence-rows.fixture.js';
import { PostgresReservationDesk } from './postgres-desk.js';
import { PostgresPreflight } from './postgres-preflight.js';

const VENUES = ['venue_a', 'venue_b'];
const clock = new SystemClock();
let database: TestDatabase;
let accounts = 0;

beforeAll(async () => {
  database = await createTestDatabase(admissionMigrations);
});
afterAll(() => database.drop());

function openDesk(shard: number, epoch: number): Promise<PostgresReservationDesk> {
  return PostgresReservationDesk.open({ url: database.url, shard, epoch, clock, random: () => 0.5 });
}

async function withDesk(
  shard: number,
  epoch: number,
  use: (desk: PostgresReservationDesk) => Promise<void>,
): Promise<void> {
  const desk = await openDesk(shard, epoch);
  try {
    await use(desk);
  } finally {
    await desk.close();
  }
}

async function newAccount(collateral = PLENTY): Promise<string> {
  accounts += 1;
  const account = `account-${accounts}`;
  await stateEvidence(database.pool, funded(account, collateral, VENUES));
  return account;
}

/** At half the payout, so that two quantity atoms cost one atom of collateral. */
function buy(quantity: number, venues = ['venue_a']): Need {
  const routes = venues.map((venue) => ({ venue, contract_id: 'rain', outcome: 'YES' }));
  return { side: 'BUY', routes, price_atoms: 500_000, quantity_atoms: quantity, parts: 1 };
}

function ask(account: string, quantity: number, current: readonly Hold[] = []): ReserveRequest {
  return { account, need: buy(quantity), current };
}

function holdOf(outcome: ReserveOutcome | undefined): readonly Hold[] {
  if (outcome?.ok !== true) throw new Error(outcome === undefined ? 'no outcome' : outcome.message);
  return outcome.hold;
}

async function collateralHeld(account: string, venue = 'venue_a'): Promise<number[]> {
  const { rows } = await database.pool.query<{ held: number[] }>(
    `select array[shard_0, shard_1, shard_2]::float8[] as held from risk.reserved
     where account_id = $1 and venue = $2 and resource = 'COLLATERAL'`,
    [account, venue],
  );
  return rows[0]?.held ?? [];
}

describe('reservations', () => {
  it('are written as absolute numbers of their shard, and go back to zero', () =>
    withDesk(1, 1, async (desk) => {
      const account = await newAccount();
      const [first, second] = await desk.reserve([ask(account, 1_000), ask(account, 3_000)]);
      expect(await collateralHeld(account)).toEqual([0, 2_000, 0]);
      await desk.release([{ account, hold: holdOf(first) }]);
      expect(await collateralHeld(account)).toEqual([0, 1_500, 0]);
      await desk.release([{ account, hold: holdOf(second) }]);
      expect(await collateralHeld(account)).toEqual([0, 0, 0]);
      expect(desk.totals()).toMatchObject({ keys: 0, unwritten: 0, reserved: 2, faults: 0 });
    }));

  it('count the earlier requests of the same batch', () =>
    withDesk(0, 1, async (desk) => {
      const account = await newAccount(1_000);
      const outcomes = await desk.reserve([ask(account, 1_200), ask(account, 1_000), ask(account, 800)]);
      expect(outcomes.map((outcome) => (outcome.ok ? 'ok' : outcome.error))).toEqual([
        'ok',
        'INSUFFICIENT_COLLATERAL',
        'ok',
      ]);
      expect(await collateralHeld(account)).toEqual([1_000, 0, 0]);
    }));

  it('are made on every route, because any route may be used', () =>
    withDesk(0, 1, async (desk) => {
      const account = await newAccount(1_000);
      await desk.reserve([{ account, need: buy(1_000, VENUES), current: [] }]);
      expect(await collateralHeld(account, 'venue_a')).toEqual([500, 0, 0]);
      expect(await collateralHeld(account, 'venue_b')).toEqual([500, 0, 0]);
    }));

  it('hold the larger of old and new during a revision, and the new one after the release', () =>
    withDesk(0, 1, async (desk) => {
      const account = await newAccount(1_000);
      const first = holdOf((await desk.reserve([ask(account, 2_000)]))[0]);
      const smaller = holdOf((await desk.reserve([ask(account, 500, first)]))[0]);
      expect(await collateralHeld(account)).toEqual([1_000, 0, 0]);
      const left = first.map((hold, index) => ({
        ...hold,
        amount: hold.amount - (smaller[index]?.amount ?? 0),
      }));
      await desk.release([{ account, hold: left }]);
      expect(await collateralHeld(account)).toEqual([250, 0, 0]);
      expect((await desk.reserve([ask(account, 2_000, smaller)]))[0]?.ok).toBe(true);
      expect(await collateralHeld(account)).toEqual([1_000, 0, 0]);
    }));

  it('fail only for the account whose evidence is invalid', () =>
    withDesk(0, 1, async (desk) => {
      const broken = await newAccount();
      const sound = await newAccount();
      await stateEvidence(database.pool, [
        { account: broken, venue: 'venue_a', resource: 'COLLATERAL', asset: '', amount: -1 },
      ]);
      const [first, second] = await desk.reserve([ask(broken, 1), ask(sound, 1)]);
      expect(first).toBeInstanceOf(EvidenceInvalid);
      expect(second?.ok).toBe(true);
      const preflight = new PostgresPreflight(database.pool, clock);
      await expect(
        preflight.preflight({ account: broken, need: buy(1), current: [] }, 1),
      ).rejects.toBeInstanceOf(EvidenceInvalid);
    }));

  it('agree with the preflight to the atom, whichever shard holds something', async () => {
    const account = await newAccount(12_345);
    const preflight = new PostgresPreflight(database.pool, clock);
    await withDesk(0, 1, async (first) => {
      await withDesk(2, 1, async (second) => {
        await first.reserve([ask(account, 777)]);
        const own = holdOf((await second.reserve([ask(account, 3_001)]))[0]);
        const alone = await preflight.preflight({ account, need: buy(1), current: [] }, 1);
        const revising = await preflight.preflight({ account, need: buy(1), current: own }, 1);
        const most = 'ok' in alone ? 0 : Number(alone.maximum_executable_quantity_atoms);
        expect(most).toBe(2 * (12_345 - 389 - 1_501));
        expect(revising).toMatchObject({ maximum_executable_quantity_atoms: String(2 * (12_345 - 389)) });
        expect((await first.reserve([ask(account, most + 1)]))[0]?.ok).toBe(false);
        expect((await first.reserve([ask(account, most)]))[0]?.ok).toBe(true);
      });
    });
  });

  it('are refused while evidence is missing or stale', () =>
    withDesk(0, 1, async (desk) => {
      await stateEvidence(database.pool, funded('stale', 1_000, VENUES), '2020-01-01T00:00:00.000000000Z');
      const outcomes = await desk.reserve([ask('unknown', 1), ask('stale', 1)]);
      expect(outcomes).toMatchObject([{ error: 'RISK_EVIDENCE_STALE' }, { error: 'RISK_EVIDENCE_STALE' }]);
    }));
});

describe('recovery of a shard', () => {
  it('makes the table equal to the journal, and does not touch other shards', async () => {
    const [kept, gone] = [await newAccount(), await newAccount()];
    let journaled: readonly Hold[] = [];
    await withDesk(2, 1, async (other) => {
      await other.reserve([ask(gone, 4_000)]);
    });
    await withDesk(1, 1, async (desk) => {
      journaled = holdOf((await desk.reserve([ask(kept, 1_000)]))[0]);
      await desk.reserve([ask(kept, 500), ask(gone, 600)]);
    });
    await withDesk(1, 2, async (desk) => {
      await desk.reconcile(new Map([[kept, journaled]]));
      expect(await collateralHeld(kept)).toEqual([0, 500, 0]);
      expect(await collateralHeld(gone)).toEqual([0, 0, 2_000]);
      await desk.release([{ account: kept, hold: journaled }]);
      expect(await collateralHeld(kept)).toEqual([0, 0, 0]);
    });
  });

  it('fences off an older owner of the shard', async () => {
    const account = await newAccount();
    const older = await openDesk(0, 10);
    const held = holdOf((await older.reserve([ask(account, 1_000)]))[0]);
    await withDesk(0, 11, async (younger) => {
      await younger.reconcile(new Map());
      const refused = await older.reserve([ask(account, 1_000)]).catch((error: unknown) => error);
      expect(refused).toBeInstanceOf(ReservationFault);
      expect(refused).toMatchObject({ kind: 'FENCED' });
      await older.release([{ account, hold: held }]);
      expect(await collateralHeld(account)).toEqual([0, 0, 0]);
      await expect(openDesk(0, 10)).rejects.toMatchObject({ kind: 'FENCED' });
      expect((await younger.reserve([ask(account, 1_000)]))[0]?.ok).toBe(true);
    });
    await older.close();
  });
});
