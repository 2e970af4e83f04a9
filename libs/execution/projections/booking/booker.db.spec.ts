import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { admissionMigrations } from '#libs/auction/admission/migrations/list.js';
import type { JournalEntry } from '#libs/journal/journal.js';
import { custodyMigrations } from '#libs/ledger/migrations/list.js';
import { SystemClock } from '#libs/platform/time/system-clock.js';
import { Projector, transactionsOf } from '#libs/projecting/projector.js';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database/test-database.js';
import {
  momentOf,
  orderUuid,
  RandomCell,
  termsOf,
  WrittenCellJournal,
} from '#libs/testing/execution/cell-journal.js';
import { evolveHoldings, emptyHoldings, tokenOf, type Holdings } from '../../rules/holdings.js';
import { evolveOrder, remainingOf } from '../../rules/evolve.js';
import { isTerminal, type OrderState } from '../../rules/order.js';
import type { CellEvent } from '../../rules/events.js';
import { tradingDomain } from '../../rules/venues.js';
import { executionBooker } from './booker.js';

jest.setTimeout(60_000);

const clock = new SystemClock();
const EMPTY = `
  alter table custody.entries disable trigger user; delete from custody.entries; alter table custody.entries enable trigger user;
  alter table custody.transactions disable trigger user; delete from custody.transactions;
  alter table custody.transactions enable trigger user;
  delete from custody.balances; delete from custody.booked; delete from custody.transfers; delete from custody.booking_offsets;
  delete from risk.evidence; delete from risk.reserved`;
let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase([...admissionMigrations, ...custodyMigrations]);
});
afterAll(() => database.drop());
beforeEach(empty);

async function empty(): Promise<void> {
  await database.pool.query(EMPTY);
}

function booker(): Projector<OrderState> {
  return new Projector(executionBooker, { inTransaction: transactionsOf(database.pool), clock });
}

type Amounts = Record<string, string>;

async function balances(where = `account_id not like 'system:%' and domain <> 'vault'`): Promise<Amounts> {
  const { rows } = await database.pool.query<{ name: string; amount: string }>(
    `select concat_ws(' ', account_id, domain, venue, asset, kind) as name, amount::text as amount
     from custody.balances where amount <> 0 and ${where} order by 1`,
  );
  return Object.fromEntries(rows.map(({ name, amount }) => [name, amount]));
}

async function entries(): Promise<readonly object[]> {
  const { rows } = await database.pool.query<object>(
    `select t.kind, t.cause_id, e.account_id, e.domain, e.venue, e.asset, e.kind as account, e.amount
     from custody.entries e join custody.transactions t using (transaction_id) order by e.entry_id`,
  );
  return rows;
}

/** What users have according to the rules, in the accounts of the ledger. */
function expected(events: readonly CellEvent[]): Amounts {
  const orders = new Map<string, OrderState>();
  const users = new Map<string, Holdings>();
  for (const event of events) {
    const before = 'order_id' in event ? orders.get(event.order_id) : undefined;
    if ('order_id' in event) orders.set(event.order_id, evolveOrder(before, event));
    const isRepeated =
      event.type === 'ORDER_FILLED' && before?.fill_ids.includes(event.fill.fill_id) === true;
    if (isRepeated) continue;
    const holdings = users.get(event.user_id) ?? emptyHoldings;
    users.set(
      event.user_id,
      evolveHoldings(holdings, event, (id) => orders.get(id)),
    );
  }
  const sums = new Map<string, bigint>();
  const add = (name: string, amount: bigint): void => void sums.set(name, (sums.get(name) ?? 0n) + amount);
  for (const [user, { cash, positions, transfers }] of users) {
    for (const { venue, asset, value } of cash.values())
      add(`${user} ${tradingDomain(venue)} ${venue} ${asset} available`, value);
    for (const held of positions.values())
      add(`${user} ${tradingDomain(held.venue)} ${held.venue} ${tokenOf(held)} position`, held.quantity);
    for (const { status, terms } of transfers.values()) {
      const name = `${user} ${tradingDomain(terms.venue)} ${terms.venue} ${terms.asset}`;
      const kind = status === 'PENDING' ? 'held' : 'in_transit';
      if (status !== 'PENDING' && status !== 'IN_TRANSIT') continue;
      add(`${name} available`, -terms.amount);
      add(`${name} ${kind}`, terms.amount);
    }
  }
  for (const order of orders.values()) {
    const { user_id, venue, side } = order.terms;
    const name = `${user_id} ${tradingDomain(venue)} ${venue}`;
    const money = venue === 'venue_b' ? 'USD' : 'USDC';
    add(`${name} ${money} fee`, order.fees);
    if (side === 'buy' || isTerminal(order)) continue;
    add(`${name} ${tokenOf(order.terms)} position`, -remainingOf(order));
    add(`${name} ${tokenOf(order.terms)} held`, remainingOf(order));
  }
  const all = [...sums].filter(([, amount]) => amount !== 0n).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(all.map(([name, amount]) => [name, String(amount)]));
}

function cut(records: readonly JournalEntry[], size: number): JournalEntry[][] {
  return Array.from({ length: Math.ceil(records.length / size) }, (_, turn) =>
    records.slice(turn * size, (turn + 1) * size),
  );
}

describe('the ledger of what cells journal', () => {
  it.each([11, 12, 13])('equals what users have by the rules (seed %i)', async (seed) => {
    const { journal } = new RandomCell(seed, 500);
    const one = booker();
    for (const batch of cut(journal.records, 37)) await one.take(0, batch);
    const found = await balances();
    expect(found).toEqual(expected(journal.events));
    expect(Object.keys(found).some((name) => name.endsWith(' held'))).toBe(true);
    const { rows } = await database.pool.query(
      'select domain, venue, asset from custody.balances group by 1, 2, 3 having sum(amount) <> 0',
    );
    expect(rows).toEqual([]);
  });

  it('does not depend on batch sizes, and a repeated delivery is booked once', async () => {
    const { records } = new RandomCell(14, 300).journal;
    await booker().take(0, records);
    const [whole, sums] = [await entries(), await balances('true')];
    for (const size of [1, 9, 80]) {
      await empty();
      for (const batch of cut(records, size)) {
        await booker().take(0, batch);
        await booker().take(0, batch);
      }
      expect(await balances('true')).toEqual(sums);
      expect((await entries()).length).toBe(whole.length);
    }
  });
});

describe('a fill', () => {
  const user_id = orderUuid('ada');
  const order_id = orderUuid('one');
  const journal = new WrittenCellJournal(0);
  const fill = {
    ...{ fill_id: orderUuid('fill'), price: 333_333n, quantity: 3_000_001n, fee: 20_000n, is_fee_told: true },
    ...({ liquidity: 'taker', venue_trade_id: 't', occurred_at: momentOf(2) } as const),
  };
  journal.write(
    { type: 'ORDER_ACCEPTED', at: momentOf(1), user_id, order_id, terms: termsOf({ order_id, user_id }) },
    { type: 'ORDER_FILLED', at: momentOf(3), user_id, order_id, fill, exchange_order_id: 'x' },
  );

  it('is booked once by its id, even if the journal is followed again from its start', async () => {
    await booker().take(0, journal.records);
    const once = await balances('true');
    expect(once).toMatchObject({
      [`${user_id} kalshi_usd venue_b USD available`]: '-1020000',
      [`${user_id} kalshi_usd venue_b USD fee`]: '20000',
      [`${user_id} kalshi_usd venue_b RAIN:Yes position`]: '3000001',
    });
    await database.pool.query('delete from custody.booking_offsets; delete from custody.booked');
    await booker().take(0, journal.records);
    expect(await balances('true')).toEqual(once);
  });
});

describe('a transfer out of the vault', () => {
  const user_id = orderUuid('eve');
  const terms = {
    ...({
      transfer_id: orderUuid('transfer'),
      venue: 'venue_e',
      asset: 'USDC',
      amount: 60n,
      direction: 'from_vault',
    } as const),
    ...{ client_request_id: 'r', content: 'c' },
  };
  const { transfer_id } = terms;
  const base = { user_id, venue: 'venue_e' } as const;

  async function open(amount: number, reserved: number): Promise<void> {
    await database.pool.query(
      `with posted as (insert into custody.transactions (kind, recorded_at) values ('OPENING', now()) returning transaction_id)
       insert into custody.entries (transaction_id, account_id, domain, venue, asset, kind, amount)
       select transaction_id, account, 'vault', 'venue_e', '', 'available', amount
       from posted, unnest($1::text[], $2::bigint[]) as e (account, amount)`,
      [
        [user_id, 'system:opening'],
        [amount, -amount],
      ],
    );
    await database.pool.query(`select custody.state_evidence($1, 'venue_e', '')`, [user_id]);
    await database.pool.query('update risk.reserved set shard_1 = $1', [reserved]);
  }

  async function evidence(): Promise<unknown> {
    const { rows } = await database.pool.query<{ amount: number }>('select amount from risk.evidence');
    return rows.map(({ amount }) => amount);
  }

  it('is held, sent and completed, and its amount can no longer be promised', async () => {
    await open(100, 40);
    const journal = new WrittenCellJournal(0);
    journal.write({ ...base, type: 'TRANSFER_HELD', at: momentOf(1), terms });
    const one = booker();
    await one.take(0, journal.records);
    expect(await balances(`domain = 'vault' and account_id not like 'system:%'`)).toEqual({
      [`${user_id} vault venue_e  available`]: '40',
      [`${user_id} vault venue_e  held`]: '60',
    });
    expect(await evidence()).toEqual([40]);
    journal.write({ ...base, type: 'TRANSFER_SENT', at: momentOf(2), transfer_id, reference: 'ref' });
    await one.take(0, journal.records);
    expect(await balances(`kind = 'in_transit'`)).toEqual({ [`${user_id} vault venue_e  in_transit`]: '60' });
    journal.write({ ...base, type: 'TRANSFER_COMPLETED', at: momentOf(3), transfer_id, reference: 'ref' });
    await one.take(0, journal.records);
    expect(await balances(`account_id not like 'system:%'`)).toEqual({
      [`${user_id} chain venue_e USDC available`]: '60',
      [`${user_id} vault venue_e  available`]: '40',
    });
  });

  it('that fails returns to the vault, and its amount can be promised again', async () => {
    await open(100, 0);
    const journal = new WrittenCellJournal(0);
    const failure = { code: 'VENUE_REJECTED' };
    journal.write(
      { ...base, type: 'TRANSFER_HELD', at: momentOf(1), terms },
      { ...base, type: 'TRANSFER_SENT', at: momentOf(2), transfer_id, reference: 'ref' },
      { ...base, type: 'TRANSFER_FAILED', at: momentOf(3), transfer_id, failure },
    );
    await booker().take(0, journal.records);
    expect(await balances(`account_id not like 'system:%'`)).toEqual({
      [`${user_id} vault venue_e  available`]: '100',
    });
    expect(await evidence()).toEqual([100]);
  });

  it('takes nothing that an auction has reserved', async () => {
    await open(100, 41);
    const hold = `select custody.hold_transfer($1, $2, 'venue_e', '', 60) as result`;
    const refused = await database.pool.query(hold, [transfer_id, user_id]);
    expect(refused.rows).toEqual([{ result: 'too little' }]);
    expect(await evidence()).toEqual([100]);
    await database.pool.query('update risk.reserved set shard_1 = 40');
    expect((await database.pool.query(hold, [transfer_id, user_id])).rows).toEqual([{ result: 'held' }]);
    expect((await database.pool.query(hold, [transfer_id, user_id])).rows).toEqual([{ result: 'known' }]);
    expect(await evidence()).toEqual([40]);
  });

  it('makes a concurrent reservation with older evidence fail', async () => {
    await open(100, 0);
    const claim = await database.pool.connect();
    try {
      await claim.query('begin isolation level serializable');
      const { rows } = await claim.query<{ amount: number }>('select amount from risk.evidence');
      expect(rows).toEqual([{ amount: 100 }]);
      await database.pool.query(`select custody.hold_transfer($1, $2, 'venue_e', '', 60)`, [
        transfer_id,
        user_id,
      ]);
      await expect(claim.query('update risk.reserved set shard_0 = 100')).rejects.toThrow('serialize');
    } finally {
      await claim.query('rollback');
      claim.release();
    }
  });
});
