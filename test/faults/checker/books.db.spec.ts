import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { admissionMigrations } from '#libs/auction/admission/migrations/list.js';
import { instantFromNanos, plusMillis } from '#libs/base/instant.js';
import { custodyMigrations } from '#libs/ledger/migrations/list.js';
import { PostgresSettlement } from '#libs/auction/settlement/postgres-settlement.js';
import { seedBalances } from '#libs/ledger/seed.js';
import { SystemClock } from '#libs/platform/time/system-clock.js';
import { OracleArchive } from '../../simulator/oracle/archive.js';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database/test-database.js';
import { checkBooks } from './books.js';
import { Findings } from './findings.js';

const AWARD = '0a000000-0000-8000-8000-000000000001';
const AUCTION = '0a000000-0000-8000-8000-000000000002';
const [PRICE, CONTRACT] = [400_000, 1_000_000];
const routeOf = (contract: string) => ({
  venue: 'venue_a',
  contract_id: contract,
  outcome: 'YES',
  title: contract,
});
const ROUTES = [routeOf('rain'), routeOf('snow')];
const TOKENS = { venue: 'venue_a', asset: 'snow/YES', amount: CONTRACT };
const FUNDS = { venue: 'venue_a', asset: '', amount: PRICE };
const clock = new SystemClock();
let database: TestDatabase;

/** Two routes at one venue; only the second could be used. */
beforeEach(async () => {
  database = await createTestDatabase([...admissionMigrations, ...custodyMigrations]);
  const now = instantFromNanos(clock.epochNanos());
  const balances = [
    { account: 'olga', ...FUNDS, amount: PRICE + 1 },
    { account: 'mia', ...TOKENS },
  ];
  await seedBalances(database.pool, balances, [], { now, evidenceTtlMillis: 60_000 });
  await new PostgresSettlement(database.pool, clock, () => 0).settle({
    award_id: AWARD,
    auction_id: AUCTION,
    attempts: 0,
    deadline: plusMillis(now, 60_000),
    price_atoms: PRICE,
    quantity_atoms: CONTRACT,
    routes: ROUTES,
    buyer: { account: 'olga', hold: [{ resource: 'COLLATERAL', ...FUNDS }] },
    seller: { account: 'mia', hold: [{ resource: 'OUTCOME_TOKEN', ...TOKENS }] },
  });
});
afterEach(() => database.drop());

/** The findings if the journal says that this asset settled the award. */
async function found(asset: string): Promise<readonly string[]> {
  const archive = new OracleArchive();
  archive.files.set(AUCTION, {
    id: AUCTION,
    shard: 0,
    places: [],
    executionDeadline: undefined,
    terms: {
      auction_id: AUCTION,
      originator: { account_id: 'olga', display_name: 'Olga', alias: 'originator' },
      side: 'BUY',
      quantity_atoms: CONTRACT,
      routes: ROUTES.map((route) => ({ ...route, equivalence_id: 'same' })),
      grid: { price_tick_atoms: 1, min_price_atoms: 1, max_price_atoms: 1, quantity_step_atoms: 1 },
      min_fill_quantity_atoms: 1,
      allocation: 'SINGLE_WINNER',
      max_winners: 1,
      opened_at: '',
      closes_at: '',
      quote_revision_policy: 'FREE',
      audience: [],
      identity_policy: { originator: 'ANONYMOUS', market_makers: 'ANONYMOUS' },
      result_disclosure: 'OWN_RESULT',
      execution_deadline_ms: 1,
    },
    hold: [],
    stage: 'COMPLETED',
    status: 'SETTLED',
    quotes: new Map(),
    awards: new Map([
      [
        AWARD,
        {
          terms: {
            award_id: AWARD,
            quote_id: 'quote',
            maker: 'mia',
            price_atoms: PRICE,
            quantity_atoms: CONTRACT,
            maker_hold: [{ resource: 'OUTCOME_TOKEN', ...TOKENS }],
            originator_hold: [{ resource: 'COLLATERAL', ...FUNDS }],
          },
          stage: 'CONFIRMED',
          attempt: 1,
          settlement: { venue: 'venue_a', asset, delivered_atoms: CONTRACT },
        },
      ],
    ]),
    stories: new Map(),
    over: new Set(),
  });
  const findings = new Findings();
  await checkBooks(database.pool, archive, findings);
  return findings.violations;
}

it('finds entries by the recorded route, not by the first one at its venue', async () => {
  expect(await found('snow/YES')).toEqual([]);
});

it("finds a record whose route differs from the ledger's", async () => {
  expect(await found('rain/YES')).toEqual([
    expect.stringContaining('was settled at venue_a by snow/YES, recorded as venue_a rain/YES'),
  ]);
});

/** Moves an atom to the escrow, so that all sums stay right. */
const movesFrom = (account: string): string => `
  insert into custody.entries (transaction_id, account_id, domain, venue, asset, kind, amount)
  select transaction_id, account, 'vault', 'venue_a', '', 'available', amount
  from made, (values ('${account}', -1), ('system:escrow', 1)) as line (account, amount)`;

it.each([
  ['SETTLEMENT', 'settles 0 awards'],
  ['OPENING', 'is an OPENING after the first trade'],
])('finds an entry of kind %s that belongs to no trade', async (kind, what) => {
  await database.pool.query(
    `with made as (
       insert into custody.transactions (kind, recorded_at) values ('${kind}', now()) returning transaction_id
     ) ${movesFrom('olga')}`,
  );
  expect(await found('snow/YES')).toEqual([expect.stringContaining(what)]);
});

it('finds entries that were added to a trade', async () => {
  await database.pool.query(
    `with made as (select transaction_id from custody.settlements) ${movesFrom('system:issuer')}`,
  );
  expect(await found('snow/YES')).toEqual([expect.stringContaining('moves by')]);
});

it('finds a settlement that says less than was delivered', async () => {
  await database.pool.query('alter table custody.settlements disable trigger user');
  await database.pool.query('update custody.settlements set delivered_atoms = delivered_atoms - 1');
  expect(await found('snow/YES')).toEqual([expect.stringContaining('says')]);
});
