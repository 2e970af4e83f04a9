import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { admissionMigrations } from '#libs/auction/admission/migrations/list.js';
import { instantFromNanos } from '#libs/base/instant.js';
import { custodyMigrations } from '#libs/ledger/migrations/list.js';
import { seedBalances } from '#libs/ledger/seed.js';
import { SystemClock } from '#libs/platform/time/system-clock.js';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database/test-database.js';
import { OracleArchive, commandName } from '../../simulator/oracle/archive.js';
import type { Promised } from '../../simulator/oracle/promises.js';
import type { RawData } from '../../simulator/oracle/raw-events.js';
import type { Overspending } from '../load/transcript.js';
import { Findings } from './findings.js';
import { checkPromisedTwice } from './promised-twice.js';

const HAS = 1_000;
const LOOK = 'simultaneous promises';
const GRANTED = { status: 201, body: '{}' };
const WANTING = { status: 422, body: '{"error":"INSUFFICIENT_COLLATERAL"}' };
let database: TestDatabase;
let archive: OracleArchive;

beforeEach(async () => {
  archive = new OracleArchive();
  database = await createTestDatabase([...admissionMigrations, ...custodyMigrations]);
  const now = instantFromNanos(new SystemClock().epochNanos());
  const balances = ['venue_a', 'venue_b'].map((venue) => ({ account: 'mia', venue, asset: '', amount: HAS }));
  await seedBalances(database.pool, balances, [], { now, evidenceTtlMillis: 60_000 });
});
afterEach(() => database.drop());

function command(operation: Promised['operation'], auctionId: string): Promised {
  return { operation, account: 'mia', auctionId, key: 'k', content: '{}' };
}

const [FIRST, SECOND] = [command('SUBMIT', '0a'), command('SUBMIT', '1b')];
const WITHDRAWAL = command('WITHDRAW', '0a');

/** The journal's event for the command. */
function journaled({ operation, account, auctionId, key }: Promised, type: string, data: RawData): void {
  const event = { type, auction_id: auctionId, at: '', data };
  const name = commandName(operation, account, auctionId, key);
  archive.commands.set(name, { shard: Number(auctionId[0]), sequence: 1, event });
}

function submitted(asked: Promised, id: string, amount: number, venue = 'venue_a'): void {
  const hold = [
    { venue, resource: 'COLLATERAL', asset: '', amount },
    { venue, resource: 'VENUE_POSITION_LIMIT', asset: '', amount: 10 * HAS },
    { venue: '', resource: 'SERVICE_EXPOSURE_LIMIT', asset: '', amount },
  ];
  const quote = {
    quote_id: id,
    maker: 'mia',
    revision: 1,
    submitted_at: '',
    price_atoms: 1,
    quantity_atoms: 1,
    min_quantity_atoms: 1,
    hold,
  };
  journaled(asked, 'QUOTE_SUBMITTED', { quote });
}

async function found({ status, body } = GRANTED): Promise<{ violations: string[]; looks: number }> {
  const overspending: Overspending = {
    standing: FIRST,
    beside: [{ command: SECOND, status, body }],
    withdrawal: WITHDRAWAL,
  };
  const findings = new Findings();
  await checkPromisedTwice(database.pool, [overspending], archive, findings);
  return { violations: findings.violations, looks: findings.checked.get(LOOK) ?? 0 };
}

it('finds two simultaneous promises of an account that never had enough for both', async () => {
  submitted(FIRST, 'first', 600);
  submitted(SECOND, 'second', 401);
  journaled(WITHDRAWAL, 'QUOTE_WITHDRAWN', { quote_id: 'first' });
  expect(await found()).toEqual({
    violations: [
      'nothing is promised twice: mia has promised 600 by first and at the same time 401 by second, and never had more than 1000 at venue_a',
    ],
    looks: 1,
  });
});

it('accepts promises up to the balance, and promises at two venues', async () => {
  submitted(FIRST, 'first', 600);
  submitted(SECOND, 'second', 400);
  journaled(WITHDRAWAL, 'QUOTE_WITHDRAWN', { quote_id: 'first' });
  expect(await found()).toEqual({ violations: [], looks: 1 });
  submitted(SECOND, 'second', 401, 'venue_b');
  expect(await found()).toEqual({ violations: [], looks: 1 });
});

it('counts all that was ever credited, whatever was debited later', async () => {
  submitted(FIRST, 'first', 600);
  submitted(SECOND, 'second', 401);
  journaled(WITHDRAWAL, 'QUOTE_WITHDRAWN', { quote_id: 'first' });
  for (const amount of [1, -1])
    await database.pool.query(
      `with made as (
         insert into custody.transactions (kind, recorded_at) values ('SETTLEMENT', now()) returning transaction_id
       )
       insert into custody.entries (transaction_id, account_id, domain, venue, asset, kind, amount)
       select transaction_id, account, 'vault', 'venue_a', '', 'available', amount
       from made, (values ('mia', ${amount}), ('system:opening', ${-amount})) as line (account, amount)`,
    );
  expect((await found()).violations).toEqual([]);
});

it('counts as checked only if the second command was refused for lack of balance', async () => {
  submitted(FIRST, 'first', 600);
  journaled(WITHDRAWAL, 'QUOTE_WITHDRAWN', { quote_id: 'first' });
  expect(await found(WANTING)).toEqual({ violations: [], looks: 1 });
  expect(await found({ status: 422, body: '{"error":"AUCTION_NOT_OPEN"}' })).toEqual({
    violations: [],
    looks: 0,
  });
});

it.each([
  ['was never withdrawn', () => undefined],
  [
    'was gone when it was to be withdrawn',
    () => {
      journaled(WITHDRAWAL, 'QUOTE_REJECTED', { quote_id: 'first', error: 'QUOTE_NOT_WITHDRAWABLE' });
    },
  ],
  [
    'is not what was withdrawn',
    () => {
      journaled(WITHDRAWAL, 'QUOTE_WITHDRAWN', { quote_id: 'another' });
    },
  ],
])('reports nothing if the first %s, since it may have ended earlier', async (_, tell) => {
  submitted(FIRST, 'first', 600);
  submitted(SECOND, 'second', 600);
  tell();
  expect(await found()).toEqual({ violations: [], looks: 0 });
});
