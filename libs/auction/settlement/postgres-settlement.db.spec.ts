import { randomInt, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { admissionMigrations } from '../admission/migrations/list.js';
import { holdFor, type Need } from '../rules/holds.js';
import { instantFromNanos, plusMillis } from '#libs/base/instant.js';
import type { Side } from '../rules/terms.js';
import { pause } from '#libs/platform/time/clock.js';
import { openPool } from '#libs/platform/database/postgres.js';
import { SystemClock } from '#libs/platform/time/system-clock.js';
import { eventually } from '#libs/testing/eventually.js';
import { openProxy } from '#libs/testing/network/tcp-proxy.js';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database/test-database.js';
import { custodyMigrations } from '#libs/ledger/migrations/list.js';
import { PostgresSettlement } from './postgres-settlement.js';
import { seedBalances } from '#libs/ledger/seed.js';
import type { AwardToSettle } from './settlement.js';

const VENUES = ['venue_a', 'venue_b'];
const ACCOUNTS = ['ann', 'bob', 'cat', 'dan', 'eve', 'fay'];
const START = 50_000_000_000;
const LIMIT = 1_000_000_000_000;
const clock = new SystemClock();
let database: TestDatabase;
let desk: PostgresSettlement;

beforeAll(async () => {
  database = await createTestDatabase([...admissionMigrations, ...custodyMigrations]);
  desk = new PostgresSettlement(database.pool, clock, () => randomInt(1_000) / 1_000);
  await seed();
});
afterAll(() => database.drop());

async function seed(): Promise<void> {
  const balances = ACCOUNTS.flatMap((account) =>
    VENUES.flatMap((venue) => [
      { account, venue, asset: '', amount: START },
      { account, venue, asset: 'rain/YES', amount: 1_000_000 },
    ]),
  );
  const limits = ACCOUNTS.flatMap((account) => [
    { account, venue: '', resource: 'SERVICE_EXPOSURE_LIMIT' as const, amount: LIMIT },
    ...VENUES.map((venue) => ({ account, venue, resource: 'VENUE_POSITION_LIMIT' as const, amount: LIMIT })),
  ]);
  const now = instantFromNanos(clock.epochNanos());
  await seedBalances(database.pool, balances, limits, { now, evidenceTtlMillis: 60_000 });
}

function awardOf(
  buyer: string,
  seller: string,
  price = 400_000,
  quantity = 1_000_000,
  tokens = 0,
): AwardToSettle {
  const routes = VENUES.map((venue) => ({ venue, contract_id: 'rain', outcome: 'YES' }));
  const holdOf = (side: Side) => {
    const need: Need = { side, routes, price_atoms: price, quantity_atoms: quantity, parts: 1 };
    return holdFor(need, () => tokens);
  };
  return {
    award_id: randomUUID(),
    auction_id: randomUUID(),
    attempts: 0,
    deadline: plusMillis(instantFromNanos(clock.epochNanos()), 600_000),
    price_atoms: price,
    quantity_atoms: quantity,
    routes,
    buyer: { account: buyer, hold: holdOf('BUY') },
    seller: { account: seller, hold: holdOf('SELL') },
  };
}

async function rows<T extends object>(text: string, values: unknown[] = []): Promise<T[]> {
  return (await database.pool.query<T>(text, values)).rows;
}

async function collateralOf(account: string): Promise<number> {
  const [row] = await rows<{ amount: number }>(
    `select amount from custody.balances where account_id = $1 and venue = 'venue_a' and asset = ''`,
    [account],
  );
  return row?.amount ?? 0;
}

/** The invariants of the ledger. Each query finds violations. */
async function violations(): Promise<object[]> {
  const found = await Promise.all([
    rows('select venue, asset from custody.balances group by 1, 2 having sum(amount) <> 0'),
    rows(`select * from custody.balances b full join (
      select account_id, venue, asset, sum(amount) as amount from custody.entries group by 1, 2, 3) e
      using (account_id, venue, asset) where coalesce(b.amount, 0) <> coalesce(e.amount, 0)`),
    rows(`select * from custody.balances b left join risk.evidence e on e.account_id = b.account_id
      and e.venue = b.venue and e.asset = b.asset and e.resource in ('COLLATERAL', 'OUTCOME_TOKEN')
      where b.account_id not like 'system:%' and e.amount is distinct from b.amount`),
    rows(`select l.account_id, l.venue from custody.limits l join risk.evidence e using (account_id, venue, resource)
      left join custody.balances b on b.account_id = l.account_id and b.venue = l.venue and b.asset <> ''
      where resource = 'VENUE_POSITION_LIMIT' group by 1, 2, l.amount, e.amount
      having e.amount <> l.amount - coalesce(sum(b.amount), 0)`),
  ]);
  return found.flat();
}

describe('settlement', () => {
  it('moves money and tokens once, however often it is called', async () => {
    const award = awardOf('ann', 'bob', 400_000, 1_000_000, 1_000_000);
    const settlement = { venue: 'venue_a', asset: 'rain/YES', delivered_atoms: 1_000_000 };
    const [ann, bob] = [await collateralOf('ann'), await collateralOf('bob')];
    const outcomes = await Promise.all(Array.from({ length: 8 }, () => desk.settle(award)));
    outcomes.push(await desk.settle(award));
    expect(new Set(outcomes.map((outcome) => JSON.stringify(outcome)))).toEqual(
      new Set([JSON.stringify({ outcome: 'SETTLED', award_id: award.award_id, settlement })]),
    );
    expect([await collateralOf('ann'), await collateralOf('bob')]).toEqual([ann - 400_000, bob + 400_000]);
    expect(await desk.outcomeOf(award.award_id)).toEqual(outcomes[0]);
    expect(await desk.abandon(award.award_id, 'too late')).toEqual(outcomes[0]);
    expect(await violations()).toEqual([]);
  });

  it('updates the evidence in the same transaction, and counts what was settled', async () => {
    const read = () =>
      rows<{ amount: number; settled: number; source_sequence: number }>(
        `select amount, settled, source_sequence from risk.evidence
         where account_id = 'cat' and venue = 'venue_a' and resource = 'COLLATERAL'`,
      );
    const [before] = await read();
    await desk.settle(awardOf('cat', 'dan'));
    const [after] = await read();
    if (before === undefined) throw new Error('no evidence');
    expect(after).toEqual({
      amount: before.amount - 400_000,
      settled: before.settled + 400_000,
      source_sequence: before.source_sequence + 1,
    });
  });

  it('records exactly one of settling and giving up', async () => {
    for (let round = 0; round < 12; round += 1) {
      const award = awardOf('ann', 'bob', 1_000, 1_000);
      const calls = [() => desk.settle(award), () => desk.abandon(award.award_id, 'too late')];
      if (round % 2 === 1) calls.reverse();
      const replies = await Promise.all(calls.map((call) => call()));
      const recorded = await desk.outcomeOf(award.award_id);
      expect(replies).toEqual([recorded, recorded]);
    }
    expect(await violations()).toEqual([]);
  });

  it('leaves no trace of an award that cannot be settled now, which may succeed later', async () => {
    const award = awardOf('ann', 'bob');
    const blocked = { ...award, buyer: { account: 'nobody', hold: award.buyer.hold } };
    expect(await desk.settle(blocked)).toMatchObject({ outcome: 'BLOCKED' });
    expect(await desk.outcomeOf(award.award_id)).toBeUndefined();
    expect(await desk.settle(award)).toMatchObject({ outcome: 'SETTLED' });
  });

  it('never changes a total, with many settlers and connections that are killed', async () => {
    const pool = openPool(database.url, { applicationName: 'sotto-test-doomed', max: 6 });
    const doomed = new PostgresSettlement(pool, clock, () => randomInt(1_000) / 1_000);
    const awards = Array.from({ length: 200 }, () => {
      const [buyer, seller] = twoOf(ACCOUNTS);
      return awardOf(
        buyer,
        seller,
        randomInt(1, 1_000_000),
        randomInt(1, 3_000_000),
        randomInt(2) * randomInt(3_000),
      );
    });
    const done = new AbortController();
    const killer = (async () => {
      while (!done.signal.aborted) {
        await rows(
          `select pg_terminate_backend(pid) from pg_stat_activity
           where application_name = 'sotto-test-doomed' and state <> 'idle' order by random() limit 1`,
        );
        await pause(clock, 10);
      }
    })();
    let died = 0;
    await inParallel(6, awards, async (award) => {
      await doomed.settle(award).catch(() => {
        died += 1;
      });
    });
    done.abort();
    await killer;
    await pool.end();
    expect(died).toBeGreaterThan(0);
    expect(await violations()).toEqual([]);
    await inParallel(6, awards, async (award) => {
      expect((await desk.settle(award)).outcome).toBe('SETTLED');
    });
    expect(await violations()).toEqual([]);
    const [posted] = await rows<{ count: number }>(
      'select count(*) from custody.settlements where award_id = any($1) and transaction_id is not null',
      [awards.map((award) => award.award_id)],
    );
    expect(posted?.count).toBe(awards.length);
  }, 240_000);
});

describe('the deadline', () => {
  const soon = (millis: number) => plusMillis(instantFromNanos(clock.epochNanos()), millis);
  const TOO_LATE = { outcome: 'BLOCKED', reason: 'EXECUTION_DEADLINE_PASSED' };

  /** Runs `work` while another transaction holds the balances of an account. */
  async function whileLocked(account: string, work: (release: () => Promise<void>) => Promise<void>) {
    const client = await database.pool.connect();
    await client.query('begin');
    await client.query('select 1 from custody.balances where account_id = $1 for update', [account]);
    let held = true;
    const release = async (): Promise<void> => {
      if (held) await client.query('rollback');
      held = false;
    };
    try {
      await work(release);
    } finally {
      await release();
      client.release();
    }
  }

  const waitingForLocks = async () =>
    (
      await rows(
        `select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`,
      )
    ).length;

  it('blocks a settlement after it, and leaves no trace of the attempt', async () => {
    const award = { ...awardOf('ann', 'bob'), deadline: soon(-1) };
    expect(await desk.settle(award)).toMatchObject(TOO_LATE);
    expect(await desk.outcomeOf(award.award_id)).toBeUndefined();
    expect(await violations()).toEqual([]);
  });

  it('applies to the moment when the money moves, not to the start', async () => {
    await whileLocked('ann', async (release) => {
      const settling = desk.settle({ ...awardOf('ann', 'bob'), deadline: soon(200) });
      await eventually(async () => expect(await waitingForLocks()).toBe(1));
      await pause(clock, 300);
      await release();
      expect(await settling).toMatchObject(TOO_LATE);
    });
  });

  it('is kept while another transaction locks the ledger: the settlement waits briefly, and giving up is not blocked', async () => {
    const award = awardOf('ann', 'bob');
    await whileLocked('ann', async () => {
      const settling = desk.settle(award);
      await eventually(async () => expect(await waitingForLocks()).toBe(1));
      await eventually(async () =>
        expect(await desk.abandon(award.award_id, 'too late')).toMatchObject({ outcome: 'FAILED' }),
      );
      expect((await settling).outcome).toMatch(/BLOCKED|FAILED/);
    });
    expect(await desk.settle(award)).toMatchObject({ outcome: 'FAILED', reason: 'too late' });
  });

  it('is kept although a settler freezes in the middle of a settlement', async () => {
    const { hostname: host, port } = new URL(database.url);
    const proxy = await openProxy({ target: { host, port: Number(port) } });
    const url = new URL(database.url);
    url.port = String(proxy.port);
    const pool = openPool(url.href, { applicationName: 'sotto-test-frozen', max: 1 });
    const frozen = new PostgresSettlement(pool, clock, () => 0);
    const award = awardOf('ann', 'bob');
    let settling: Promise<unknown> = Promise.resolve();
    await whileLocked('ann', async () => {
      settling = frozen.settle(award).catch(() => 'lost');
      await eventually(async () => expect(await waitingForLocks()).toBe(1));
      proxy.blackhole('to-client');
      proxy.blackhole('to-server');
    });
    await eventually(
      async () => expect(await desk.abandon(award.award_id, 'too late')).toMatchObject({ outcome: 'FAILED' }),
      10_000,
    );
    proxy.cut();
    expect(await settling).toBe('lost');
    await pool.end();
    await proxy.close();
    expect(await violations()).toEqual([]);
  });
});

describe('ledger', () => {
  const enter = (amounts: readonly [number, number]) =>
    database.pool.query(
      `with posted as (insert into custody.transactions (kind, recorded_at) values ('SETTLEMENT', now())
         returning transaction_id)
       insert into custody.entries select transaction_id, e.* from posted,
         (values ('ann', 'vault', 'venue_a', '', 'available', $1::bigint), ('bob', 'vault', 'venue_a', '', 'available', $2::bigint)) as e`,
      [...amounts],
    );

  it('refuses entries that do not balance, and amounts that an account does not have', async () => {
    await expect(enter([-5, 4])).rejects.toThrow('do not balance');
    await expect(enter([-START * 100, START * 100])).rejects.toThrow('only_issuers_owe');
    expect(await violations()).toEqual([]);
  });

  it.each([
    'update custody.entries set amount = amount + 1',
    'delete from custody.entries',
    'truncate custody.entries',
    `update custody.settlements set venue = 'venue_b'`,
    `update custody.settlements set transaction_id = 1`,
    `update custody.settlements set outcome = 'FAILED', reason = 'x', transaction_id = null`,
    'delete from custody.settlements',
    'truncate custody.settlements',
  ])('refuses: %s', async (statement) => {
    await expect(database.pool.query(statement)).rejects.toThrow('append-only');
  });
});

/** What a process with the settler's login could call. */
describe('the database function that posts settlements', () => {
  type Line = readonly [account: string, asset: string, amount: number];
  const YES = 'rain/YES';
  const NO = 'rain/NO';
  const issued: readonly Line[] = [
    ['ann', '', -400],
    ['bob', '', -600],
    ['system:escrow', '', 1_000],
    ['ann', YES, 1_000],
    ['system:issuer', YES, -1_000],
    ['bob', NO, 1_000],
    ['system:issuer', NO, -1_000],
  ];
  const without = (...removed: readonly number[]): Line[] =>
    issued.filter((_, index) => !removed.includes(index));

  async function posted(lines: readonly Line[], isClaimed = true): Promise<void> {
    const award = randomUUID();
    const client = await database.pool.connect();
    try {
      await client.query('begin');
      if (isClaimed) await client.query('select custody.claim_settlement($1)', [award]);
      const columns = [0, 1, 2].map((at) => lines.map((line) => line[at]));
      await client.query(`select custody.post_settlement($1, 'venue_a', '${YES}', 0, $2, $3, $4)`, [
        award,
        ...columns,
      ]);
      await client.query('set constraints all immediate');
    } finally {
      await client.query('rollback');
      client.release();
    }
  }

  it('accepts entries that settle an award', async () => {
    await posted(issued);
    await posted([
      ['ann', '', -400],
      ['bob', '', 400],
      ['ann', YES, 1],
      ['bob', YES, -1],
    ]);
  });

  const strange: [string, readonly Line[]][] = [
    ['collateral out of nothing', [['ann', '', 5], ['system:issuer', '', -5]]], // prettier-ignore
    ['an opening', [['ann', '', 5], ['system:opening', '', -5]]], // prettier-ignore
    ['money that others have in escrow', [['ann', '', 5], ['system:escrow', '', -5]]], // prettier-ignore
    ['tokens without backing', [['ann', YES, 5], ['system:issuer', YES, -5], ['bob', NO, 5], ['system:issuer', NO, -5]]], // prettier-ignore
    ['one token without the other', [...without(5, 6)]],
    ['more of one token than of the other', [...without(5, 6), ['bob', NO, 999], ['system:issuer', NO, -999]]], // prettier-ignore
    ['tokens of two markets', [...without(5, 6), ['bob', 'snow/NO', 1_000], ['system:issuer', 'snow/NO', -1_000]]], // prettier-ignore
    ['tokens that are burnt', [['ann', YES, -5], ['system:issuer', YES, 5], ['ann', NO, -5], ['system:issuer', NO, 5]]], // prettier-ignore
    ['nothing at all', []],
    ['three parties', [['ann', '', -5], ['bob', '', 4], ['cat', '', 1]]], // prettier-ignore
  ];
  it.each(strange)('refuses %s', async (_what, lines) => {
    await expect(posted(lines)).rejects.toThrow('no award is settled by such entries');
  });

  it('refuses entries of an award that is not claimed, or that already has entries', async () => {
    await expect(posted(issued, false)).rejects.toThrow('is not claimed');
    const award = awardOf('ann', 'bob');
    await desk.settle(award);
    const again = `select custody.post_settlement($1, 'venue_a', '${YES}', 0, '{ann,bob}', '{"",""}', '{-5,5}')`;
    await expect(rows(again, [award.award_id])).rejects.toThrow('is not claimed');
  });

  it('refuses an award that is settled by no transaction, by the transaction of another award or by an opening', async () => {
    const { rows: openings } = await database.pool.query('select transaction_id as id from custody.openings');
    const transactions = await rows<{ id: number }>(
      'select transaction_id as id from custody.settlements where transaction_id is not null limit 1',
    );
    const settledBy = (id: number | null) =>
      rows(
        `insert into custody.settlements (award_id, outcome, transaction_id, recorded_at) values ($1, 'SETTLED', $2, now())`,
        [randomUUID(), id],
      );
    await expect(settledBy(null)).rejects.toThrow('no transaction has settled award');
    await expect(settledBy((openings as { id: number }[])[0]!.id)).rejects.toThrow(
      'no transaction has settled award',
    );
    await expect(settledBy(transactions[0]!.id)).rejects.toThrow('settlements_transaction_id_key');
    await expect(rows('select custody.claim_settlement($1)', [randomUUID()])).rejects.toThrow(
      'no transaction has settled award',
    );
  });
});

describe('seed', () => {
  it('opens an account once and leaves its balance alone afterwards', async () => {
    await desk.settle(awardOf('ann', 'bob'));
    const before = await rows('select * from custody.balances order by 1, 2, 3');
    await seed();
    expect(await rows('select * from custody.balances order by 1, 2, 3')).toEqual(before);
    expect(await rows('select reference from custody.openings')).toEqual([
      { reference: expect.stringMatching(/^seed \d+$/) },
    ]);
    expect(await violations()).toEqual([]);
  });
});

function twoOf(names: readonly string[]): [string, string] {
  const first = randomInt(names.length);
  const second = (first + randomInt(1, names.length)) % names.length;
  return [names[first] ?? '', names[second] ?? ''];
}

async function inParallel<T>(
  workers: number,
  items: readonly T[],
  work: (item: T) => Promise<void>,
): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let item = items[next++]; item !== undefined; item = items[next++]) await work(item);
  };
  await Promise.all(Array.from({ length: workers }, worker));
}
