import { afterAll, beforeAll, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { admissionMigrations } from '#libs/auction/admission/migrations/list.js';
import type { ClaimKind, ClaimLine } from '#libs/auction/admission/risk/claim.js';
import { DeskSession, type OpenedSession } from '#libs/auction/admission/risk/desk-session.js';
import { accountKey, type AccountKey, type ResourceKey } from '#libs/auction/admission/risk/resource-key.js';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database/test-database.js';
import { Host } from '../kernel/host.js';
import { Random } from '../kernel/random.js';
import { Scheduler } from '../kernel/scheduler.js';
import { Trace } from '../kernel/trace.js';
import { SimulatedDatabase } from './database.js';
import { openReservations } from './reservation-session.js';

/**
 * The simulator decides claims by its own rules: this test compares them with the real statement on a server,
 * claim by claim.
 */
const SHARD = 1;
const EPOCH = 7;
const AT = '2026-11-26T12:00:00.000000000Z';
const LATER = '2026-11-26T12:00:00.000001000Z';
const FOREVER = '2999-01-01';
const RESOURCES: readonly ResourceKey[] = [
  { venue: 'a', resource: 'COLLATERAL', asset: '' },
  { venue: 'a', resource: 'OUTCOME_TOKEN', asset: 'rain/YES' },
  { venue: '', resource: 'SERVICE_EXPOSURE_LIMIT', asset: '' },
];
const ACCOUNTS = [0, 1];

let database: TestDatabase;
let real: DeskSession;
let world: World;

beforeAll(async () => {
  database = await createTestDatabase(admissionMigrations);
  real = await DeskSession.open(database.url, SHARD);
  world = new World();
  await real.raiseFence(EPOCH);
  await world.told((await world.session()).raiseFence(EPOCH));
});
afterAll(async () => {
  await real.end();
  await database.drop();
});

/** Simulated time runs only while a caller waits for an answer. */
class World {
  private readonly scheduler = new Scheduler();
  readonly database = new SimulatedDatabase(
    this.scheduler,
    new Random('claims'),
    { slowestMillis: 1, stall: 0, cut: 0 },
    new Trace(this.scheduler, false),
    () => undefined,
  );
  private readonly host = new Host('owner', this.scheduler);

  session(): Promise<OpenedSession> {
    return this.told(openReservations(this.database, this.host, SHARD));
  }

  async told<T>(promise: Promise<T>): Promise<T> {
    const answer = { isThere: false };
    const over = promise.finally(() => {
      answer.isThere = true;
    });
    while (!answer.isThere) {
      await new Promise(setImmediate);
      this.scheduler.step(Infinity);
    }
    return over;
  }
}

interface Stated {
  /** The evidence and how much of it was settled recently; undefined if there is none. */
  readonly evidence: { readonly amount: number; readonly settled: number } | undefined;
  /** For each shard. */
  readonly reserved: readonly [number, number, number] | undefined;
}

interface Asked {
  readonly kind: ClaimKind;
  readonly total: number;
  /** How far the evidence seen is from the actual evidence. */
  readonly sight: { readonly amount: number; readonly others: number } | undefined;
}

const few = fc.integer({ min: 0, max: 6 });
const stated: fc.Arbitrary<Stated> = fc.record({
  evidence: fc.option(
    fc.record({ amount: fc.integer({ min: 0, max: 12 }), settled: fc.integer({ min: 0, max: 3 }) }),
    {
      nil: undefined,
      freq: 5,
    },
  ),
  reserved: fc.option(fc.tuple(few, few, few), { nil: undefined, freq: 5 }),
});
const off = fc.constantFrom(0, 0, 0, 1, -1);
const asked: fc.Arbitrary<Asked> = fc.record({
  kind: fc.constantFrom<ClaimKind>('GROWS', 'GROWS', 'STANDS', 'SHRINKS', 'LACKING'),
  total: fc.integer({ min: 0, max: 10 }),
  sight: fc.option(fc.record({ amount: off, others: off }), { nil: undefined, freq: 2 }),
});
const place = fc.record({ stated, asked: fc.option(asked, { nil: undefined, freq: 4 }) });
const maker = fc.record({
  quotes: fc.boolean(),
  frozenUntil: fc.constantFrom(undefined, undefined, AT, LATER),
});
const plots = fc.record({
  makers: fc.array(maker, { minLength: 2, maxLength: 2 }),
  places: fc.array(place, { minLength: 6, maxLength: 6 }),
  epoch: fc.constantFrom(EPOCH, EPOCH, EPOCH, EPOCH, EPOCH - 1),
});

interface Plot {
  /** In order of accounts. */
  readonly makers: readonly { readonly quotes: boolean; readonly frozenUntil: string | undefined }[];
  readonly places: readonly { readonly stated: Stated; readonly asked: Asked | undefined }[];
  readonly epoch: number;
}

function keysOf(name: string): readonly AccountKey[] {
  return ACCOUNTS.flatMap((account) =>
    RESOURCES.map((resource) => accountKey(`${name}-${account}`, resource)),
  );
}

/** Writes the same rows to both servers. */
async function furnish(key: AccountKey, { evidence, reserved }: Stated): Promise<void> {
  const { account, venue, resource, asset, name } = key;
  const { tables } = world.database;
  if (evidence !== undefined) {
    const { amount, settled } = evidence;
    tables.evidence.rows.set(name, { amount, settled, source_sequence: 1 });
    await database.pool.query('insert into risk.evidence values ($1, $2, $3, $4, $5, $6, 1, $7, $7)', [
      account,
      venue,
      resource,
      asset,
      amount,
      settled,
      FOREVER,
    ]);
  }
  // A key with evidence has a row for reservations.
  const amounts = reserved ?? (evidence === undefined ? undefined : [0, 0, 0]);
  if (amounts === undefined) return;
  tables.reserved.rows.set(name, amounts);
  await database.pool.query(
    `insert into risk.reserved (account_id, venue, resource, asset, shard_0, shard_1, shard_2)
     values ($1, $2, $3, $4, $5, $6, $7) on conflict (account_id, venue, resource, asset)
     do update set shard_0 = excluded.shard_0, shard_1 = excluded.shard_1, shard_2 = excluded.shard_2`,
    [account, venue, resource, asset, ...amounts],
  );
}

async function freeze(name: string, { makers }: Plot): Promise<string[]> {
  const quoting: string[] = [];
  for (const [index, { quotes, frozenUntil }] of makers.entries()) {
    const account = `${name}-${ACCOUNTS[index]!}`;
    if (quotes) quoting.push(account);
    if (frozenUntil === undefined) continue;
    world.database.tables.frozen.rows.set(account, frozenUntil);
    await database.pool.query('insert into control.protection_state values ($1, $2, $2)', [
      account,
      frozenUntil,
    ]);
  }
  return quoting;
}

function linesOf(keys: readonly AccountKey[], { places }: Plot): ClaimLine[] {
  return places.flatMap(({ stated: { evidence, reserved = [0, 0, 0] }, asked: line }, index) => {
    if (line === undefined) return [];
    const { kind, total, sight } = line;
    const key = keys[index]!;
    // Only tokens keep what was seen.
    const seen =
      key.resource !== 'OUTCOME_TOKEN'
        ? undefined
        : sight && {
            amount: (evidence?.amount ?? 0) + sight.amount,
            others: reserved[0] + reserved[2] + sight.others,
          };
    return [{ key, kind, total, sight: seen }];
  });
}

interface ReservedRow extends ResourceKey {
  readonly account_id: string;
  readonly shard_0: number;
  readonly shard_1: number;
  readonly shard_2: number;
}

async function reservedBy(name: string): Promise<readonly (readonly [string, readonly number[]])[]> {
  const { rows } = await database.pool.query<ReservedRow>(
    `select account_id, venue, resource, asset, shard_0, shard_1, shard_2 from risk.reserved where account_id like $1 || '-%'`,
    [name],
  );
  return rows.map(({ account_id: account, shard_0: first, shard_1: second, shard_2: third, ...resource }) => [
    accountKey(account, resource).name,
    [first, second, third],
  ]);
}

it('grants and writes the same as the statement, for random claims on random states', async () => {
  const simulated = await world.session();
  const counts = { granted: 0, refused: 0 };
  let stories = 0;
  await fc.assert(
    fc.asyncProperty(plots, async (plot: Plot) => {
      stories += 1;
      const name = `story${stories}`;
      const keys = keysOf(name);
      for (const [index, { stated: row }] of plot.places.entries()) await furnish(keys[index]!, row);
      const quoting = await freeze(name, plot);
      const claim = { epoch: plot.epoch, lines: linesOf(keys, plot), at: AT, quoting };
      const granted = await real.claim([], claim);
      expect(await world.told(simulated.claim([], claim))).toEqual(granted);
      const rows = keys.flatMap((key) => {
        const amounts = world.database.tables.reserved.rows.get(key.name);
        return amounts === undefined ? [] : [[key.name, amounts] as const];
      });
      expect(new Map(rows)).toEqual(new Map(await reservedBy(name)));
      counts.granted += granted.length;
      counts.refused += claim.lines.length - granted.length;
    }),
    { numRuns: 400 },
  );
  // So neither all nor none were refused.
  expect(Math.min(counts.granted, counts.refused)).toBeGreaterThan(300);
}, 60_000);
