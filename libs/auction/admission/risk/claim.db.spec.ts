import { afterAll, beforeAll, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Need } from '../../rules/holds.js';
import type { Hold, Side } from '../../rules/terms.js';
import { SystemClock } from '#libs/platform/time/system-clock.js';
import { eventually } from '#libs/testing/eventually.js';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database/test-database.js';
import { admissionMigrations } from '../migrations/list.js';
import type { Release, ReserveOutcome, ReserveRequest } from '../reservation-desk.js';
import { DeskSession, type OpenedSession } from './desk-session.js';
import { PostgresReservationDesk } from './postgres-desk.js';
import type { ResourceKey } from './resource-key.js';

const PRICE = 400_000;
const clock = new SystemClock();
let database: TestDatabase;
/** How many lines claims had, and how many were granted. */
const claimed = { lines: 0, found: 0 };

beforeAll(async () => {
  database = await createTestDatabase(admissionMigrations);
});
afterAll(() => database.drop());

/** A service that claims first, or one whose claims always fail so that it reads before it decides. */
function openDesk(shard: number, claims: boolean): Promise<PostgresReservationDesk> {
  return deskOf(shard, async () => {
    const session = await DeskSession.open(database.url, shard);
    const claim = session.claim.bind(session);
    return Object.assign(session, {
      claim: async (...[contested, asked]: Parameters<typeof claim>) => {
        if (!claims) return [];
        const found = await claim(contested, asked);
        claimed.lines += asked.lines.length;
        claimed.found += found.length;
        return found;
      },
    });
  });
}

function deskOf(shard: number, openSession: () => Promise<OpenedSession>): Promise<PostgresReservationDesk> {
  const random = (): number => 0.5;
  return PostgresReservationDesk.open({ url: database.url, shard, epoch: 1, clock, random, openSession });
}

interface Stated extends ResourceKey {
  readonly amount: number;
  readonly settled: number;
  readonly ageing: 'fresh' | 'risk is old' | 'authority is old' | 'for ever';
}

const VALID: Readonly<Record<Stated['ageing'], readonly [risk: string, authority: string]>> = {
  fresh: ['2999-01-01', '2999-01-01'],
  'risk is old': ['2001-01-01', '2999-01-01'],
  'authority is old': ['2999-01-01', '2001-01-01'],
  'for ever': ['infinity', '2999-01-01'],
};

async function state(account: string, row: Stated): Promise<void> {
  const [risk, authority] = VALID[row.ageing];
  await database.pool.query(
    `insert into risk.evidence values ($1, $2, $3, $4, $5, $6, 1, $7::timestamptz, $8::timestamptz)
     on conflict (account_id, venue, resource, asset) do update set amount = excluded.amount, settled = excluded.settled,
       risk_valid_until = excluded.risk_valid_until, authority_valid_until = excluded.authority_valid_until`,
    [account, row.venue, row.resource, row.asset, row.amount, row.settled, risk, authority],
  );
}

const RESOURCES: readonly ResourceKey[] = [
  { venue: 'a', resource: 'COLLATERAL', asset: '' },
  { venue: 'a', resource: 'VENUE_POSITION_LIMIT', asset: '' },
  { venue: 'a', resource: 'OUTCOME_TOKEN', asset: 'rain/YES' },
  { venue: '', resource: 'SERVICE_EXPOSURE_LIMIT', asset: '' },
];
const amounts = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: 0, max: 4_000 }) },
  { weight: 1, arbitrary: fc.constantFrom(-1, Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER + 1) },
);
const statement = (resource: ResourceKey) =>
  fc
    .record({
      amount: amounts,
      settled: fc.constantFrom(0, 0, 0, 500, -1),
      ageing: fc.constantFrom<Stated['ageing']>(
        'fresh',
        'fresh',
        'fresh',
        'fresh',
        'fresh',
        'risk is old',
        'authority is old',
        'for ever',
      ),
    })
    .map((row): Stated => ({ ...resource, ...row }));

type Step =
  | { readonly is: 'state'; readonly account: number; readonly row: Stated }
  | { readonly is: 'reserve'; readonly desk: number; readonly asks: readonly Asked[] }
  | { readonly is: 'release'; readonly which: number };

interface Asked {
  readonly account: number;
  readonly side: Side;
  readonly quantity: number;
  /** The index of the hold to revise, if there are so many. */
  readonly revises: number;
}

const asked = fc.record({
  account: fc.integer({ min: 0, max: 2 }),
  side: fc.constantFrom<Side>('BUY', 'SELL'),
  quantity: fc.integer({ min: 1, max: 4_000 }),
  revises: fc.integer({ min: 0, max: 6 }),
});
const steps = fc.array(
  fc.oneof(
    {
      weight: 1,
      arbitrary: fc
        .tuple(fc.integer({ min: 0, max: 2 }), fc.constantFrom(...RESOURCES))
        .chain(([account, resource]) =>
          statement(resource).map((row): Step => ({ is: 'state', account, row })),
        ),
    },
    {
      weight: 4,
      arbitrary: fc.record({
        is: fc.constant('reserve' as const),
        desk: fc.integer({ min: 0, max: 1 }),
        asks: fc.array(asked, { minLength: 1, maxLength: 4 }),
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({ is: fc.constant('release' as const), which: fc.integer({ min: 0, max: 20 }) }),
    },
  ),
  { minLength: 4, maxLength: 14 },
);

interface ActiveHold extends Release {
  readonly desk: number;
}

/** Plays the same steps on shards 0 and 1, and collects the answers and the final table. */
class Story {
  private readonly standing: ActiveHold[] = [];
  private readonly answers: unknown[] = [];

  constructor(
    private readonly name: string,
    private readonly desks: readonly PostgresReservationDesk[],
  ) {}

  async tell(plot: readonly Step[]): Promise<unknown> {
    for (const account of [0, 1, 2]) {
      for (const resource of RESOURCES) {
        if (resource.resource === 'OUTCOME_TOKEN' && account === 0) continue;
        await state(this.account(account), { ...resource, amount: 3_000, settled: 0, ageing: 'fresh' });
      }
    }
    for (const step of plot) await this.take(step);
    const { rows } = await database.pool.query<Record<string, unknown>>(
      `select replace(account_id, $1, '') as account, venue, resource, shard_0, shard_1 from risk.reserved
       where account_id like $1 || '%' order by 1, 2, 3`,
      [this.name],
    );
    for (const { desk, ...release } of this.standing) await this.desks[desk]?.release([release]);
    return { answers: this.answers, rows };
  }

  private account(number: number): string {
    return `${this.name}-${number}`;
  }

  private async take(step: Step): Promise<void> {
    if (step.is === 'state') await state(this.account(step.account), step.row);
    else if (step.is === 'reserve') await this.reserve(step.desk, step.asks);
    else if (this.standing.length > 0) {
      const [gone] = this.standing.splice(step.which % this.standing.length, 1);
      if (gone !== undefined) await this.desks[gone.desk]?.release([gone]);
    }
  }

  private async reserve(desk: number, asks: readonly Asked[]): Promise<void> {
    const revised = new Set<ActiveHold>();
    const pairs = asks.map((ask) => {
      const account = this.account(ask.account);
      const former = this.standing
        .filter((one) => one.desk === desk && one.account === account && !revised.has(one))
        .at(ask.revises);
      if (former !== undefined) revised.add(former);
      return { former, request: { account, need: needOf(ask), current: former?.hold ?? [] } };
    });
    const outcomes = await this.desks[desk]!.reserve(pairs.map(({ request }) => request));
    this.answers.push(outcomes.map(resultOf));
    for (const [index, { former, request }] of pairs.entries()) {
      const outcome = outcomes[index];
      if (outcome?.ok === true) await this.replace(desk, request, former, outcome.hold);
    }
  }

  /** As an owner does: keeps the new hold and releases what the old one had beyond it. */
  private async replace(
    desk: number,
    { account }: ReserveRequest,
    former: ActiveHold | undefined,
    hold: readonly Hold[],
  ): Promise<void> {
    this.standing.push({ desk, account, hold });
    if (former === undefined) return;
    this.standing.splice(this.standing.indexOf(former), 1);
    const left = former.hold.flatMap((old) => {
      const now = hold.find((one) => one.venue === old.venue && one.resource === old.resource)?.amount ?? 0;
      return old.amount > now ? [{ ...old, amount: old.amount - now }] : [];
    });
    if (left.length > 0) await this.desks[desk]?.release([{ account, hold: left }]);
  }
}

function needOf({ side, quantity }: Asked): Need {
  const routes = [{ venue: 'a', contract_id: 'rain', outcome: 'YES' }];
  return { side, routes, price_atoms: PRICE, quantity_atoms: quantity, parts: 1 };
}

function resultOf(outcome: ReserveOutcome): unknown {
  return outcome.ok ? outcome.hold : outcome.error;
}

it('answers and writes the same as without claims, whatever the evidence', async () => {
  const [claiming, reading] = [
    [await openDesk(0, true), await openDesk(1, true)],
    [await openDesk(0, false), await openDesk(1, false)],
  ];
  let stories = 0;
  try {
    await fc.assert(
      fc.asyncProperty(steps, async (plot) => {
        stories += 1;
        const claimed = await new Story(`c${stories}`, claiming).tell(plot);
        expect(claimed).toEqual(await new Story(`r${stories}`, reading).tell(plot));
      }),
      { numRuns: 60 },
    );
    for (const desk of [...claiming, ...reading]) {
      expect(desk.totals()).toMatchObject({ keys: 0, unwritten: 0, faults: 0 });
    }
    // The comparison must cover granted claims and refused ones.
    expect(claimed.found).toBeGreaterThan(claimed.lines / 2);
    expect(claimed.found).toBeLessThan(claimed.lines);
  } finally {
    for (const desk of [...claiming, ...reading]) await desk.close();
  }
}, 60_000);

it('releases claims that were granted in a batch that fails as a whole', async () => {
  const lost = Object.assign(new Error('the connection is gone'), { code: 'ECONNRESET' });
  const desk = await deskOf(2, async () => {
    const session = await DeskSession.open(database.url, 2);
    return Object.assign(session, { begin: () => Promise.reject(lost) });
  });
  for (const resource of RESOURCES) {
    for (const account of ['buyer', 'seller']) {
      await state(account, { ...resource, amount: 3_000, settled: 0, ageing: 'fresh' });
    }
  }
  const request = (account: string, side: Side): ReserveRequest => {
    return { account, need: needOf({ account: 0, side, quantity: 1_000, revises: 0 }), current: [] };
  };
  // The seller's tokens must be read, which fails. The buyer was granted before.
  const batch = desk.reserve([request('buyer', 'BUY'), request('seller', 'SELL')]);
  await expect(batch).rejects.toMatchObject({ kind: 'UNAVAILABLE' });
  await eventually(async () => expect(await heldOf('buyer')).toEqual([0, 0, 0, 0]));
  await eventually(() => expect(desk.totals()).toMatchObject({ keys: 0, unwritten: 0, reserved: 1 }));
  await desk.close();
});

it('sets nothing aside for a request that does not fit as a whole', async () => {
  const between: unknown[] = [];
  const desk = await deskOf(2, async () => {
    const session = await DeskSession.open(database.url, 2);
    const begin = session.begin.bind(session);
    return Object.assign(session, {
      begin: async (...asked: Parameters<typeof begin>) => {
        between.push(await heldOf('half'));
        return begin(...asked);
      },
    });
  });
  for (const resource of RESOURCES) {
    const amount = resource.resource === 'VENUE_POSITION_LIMIT' ? 10 : 3_000;
    await state('half', { ...resource, amount, settled: 0, ageing: 'fresh' });
  }
  const need = needOf({ account: 0, side: 'BUY', quantity: 1_000, revises: 0 });
  const [outcome] = await desk.reserve([{ account: 'half', need, current: [] }]);
  expect(outcome).toMatchObject({ ok: false, error: 'VENUE_LIMIT_EXCEEDED' });
  expect(between).toEqual([[0, 0, 0, 0]]);
  expect(await heldOf('half')).toEqual([0, 0, 0, 0]);
  await desk.close();
});

/** Gives an account all that a sale needs except tokens, and opens a service. */
async function endowed(account: string): Promise<PostgresReservationDesk> {
  for (const resource of RESOURCES) {
    if (resource.resource === 'OUTCOME_TOKEN') continue;
    await state(account, { ...resource, amount: 3_000, settled: 0, ageing: 'fresh' });
  }
  return openDesk(2, true);
}

it('covers a sale with the tokens that exist, whatever was read of them before', async () => {
  const desk = await endowed('holder');
  const tokens = { venue: 'a', resource: 'OUTCOME_TOKEN', asset: 'rain/YES' } as const;
  const soldTokens = async (quantity: number): Promise<number> => {
    const need = needOf({ account: 0, side: 'SELL', quantity, revises: 0 });
    const [outcome] = await desk.reserve([{ account: 'holder', need, current: [] }]);
    if (outcome?.ok !== true) throw new Error('refused');
    return outcome.hold.find(({ resource }) => resource === 'OUTCOME_TOKEN')?.amount ?? 0;
  };
  expect([await soldTokens(100), await soldTokens(100)]).toEqual([0, 0]);
  await state('holder', { ...tokens, amount: 1_000, settled: 0, ageing: 'fresh' });
  expect([await soldTokens(300), await soldTokens(300)]).toEqual([300, 300]);
  await state('holder', { ...tokens, amount: 3_000, settled: 0, ageing: 'fresh' });
  expect(await soldTokens(1_500)).toBe(1_500);
  await desk.close();
});

it('recalculates a hold that depended on one refused in the same batch', async () => {
  const desk = await endowed('twice');
  const tokens = { venue: 'a', resource: 'OUTCOME_TOKEN', asset: 'rain/YES' } as const;
  await state('twice', { ...tokens, amount: 1_000, settled: 0, ageing: 'fresh' });
  const here = needOf({ account: 0, side: 'SELL', quantity: 1_000, revises: 0 });
  // The account has nothing at the other venue.
  const both = { ...here, routes: [...here.routes, { venue: 'b', contract_id: 'rain', outcome: 'YES' }] };
  const asks = (...needs: Need[]) =>
    desk.reserve(needs.map((need) => ({ account: 'twice', need, current: [] })));
  // After this the balance of tokens is cached, and nothing is set aside.
  expect(await asks(both)).toMatchObject([{ ok: false }]);
  const outcomes = await asks(both, here);
  expect(outcomes).toMatchObject([{ ok: false }, { ok: true }]);
  const [, granted] = outcomes;
  expect(granted).toHaveProperty('hold', expect.arrayContaining([{ ...tokens, amount: 1_000 }]));
  await desk.close();
});

it('refuses with status 500 when more is set aside than ever existed', async () => {
  const desk = await endowed('doubtful');
  const need = needOf({ account: 0, side: 'BUY', quantity: 1_000, revises: 0 });
  const [first] = await desk.reserve([{ account: 'doubtful', need, current: [] }]);
  if (first?.ok !== true) throw new Error('refused');
  const again = { account: 'doubtful', need, current: first.hold };
  expect(await desk.reserve([again])).toMatchObject([{ ok: true }]);
  // This shard holds 400.
  await state('doubtful', { ...RESOURCES[0]!, amount: 500, settled: 0, ageing: 'fresh' });
  await database.pool.query(
    `update risk.reserved set shard_1 = 200 where account_id = 'doubtful' and resource = 'COLLATERAL'`,
  );
  expect(await desk.reserve([again])).toMatchObject([{ ok: false, status: 500 }]);
  await desk.close();
});

async function heldOf(account: string): Promise<number[]> {
  const { rows } = await database.pool.query<{ shard_2: number }>(
    'select shard_2 from risk.reserved where account_id = $1',
    [account],
  );
  return rows.map((row) => row.shard_2);
}
