import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { startCluster, type OwnedCluster } from '#libs/testing/cluster/cluster.js';
import { eventually } from '#libs/testing/eventually.js';
import { runTool, type ToolRun } from '#libs/testing/cluster/tool-run.js';
import { ServiceRecords } from '../books.js';
import { auctionBody, CONTRACT, mustBe, Trader, TradingFloor } from '../trading-floor.js';

jest.setTimeout(120_000);

const PASSWORD = 'correct horse battery staple';
const VENUE = 'venue_h';
const HOUSE = 'house@books.example';
const DESK = 'desk@books.example';
const DESK_ID = '5a1f0e6c-0b7e-4a55-9c52-7d1f3e0a9b11';
const MARKET = { venue: VENUE, contract_id: 'h-snow', outcome: 'YES' };
const GRID = { price_tick_atoms: 10_000, quantity_step_atoms: CONTRACT };
const NEXT_YEAR = `${new Date().getUTCFullYear() + 1}-06-30T12:00:00Z`;
const TERMS =
  `contract --venue ${VENUE} --contract-id h-snow --outcome YES --title Snow --equivalence-id snow ` +
  `--price-tick-atoms 10000 --quantity-step-atoms 1000000 --closes-at ${NEXT_YEAR}`;

/** Removes everything that a demo seed would have entered, except accounts. */
const FORGET_THE_DEMO = `
  truncate control.contracts;
  alter table custody.entries disable trigger user;
  alter table custody.transactions disable trigger user;
  alter table custody.openings disable trigger user;
  alter table custody.settlements disable trigger user;
  truncate custody.entries, custody.transactions, custody.settlements, custody.openings, custody.balances, custody.limits;
  alter table custody.entries enable trigger user;
  alter table custody.transactions enable trigger user;
  alter table custody.openings enable trigger user;
  alter table custody.settlements enable trigger user;
  truncate risk.evidence, risk.reserved`;

const ALL_BOOKS = `
  select (select jsonb_agg(c order by c) from control.contracts c) as contracts,
    (select jsonb_agg(e order by e) from custody.entries e) as entries,
    (select jsonb_agg(o order by o) from custody.openings o) as openings,
    (select jsonb_agg(b order by b) from custody.balances b) as balances,
    (select jsonb_agg(l order by l) from custody.limits l) as limits`;

interface Shown {
  readonly accounts: readonly { readonly email: string; readonly lacks: readonly string[] }[];
}

let cluster: OwnedCluster;
let books: ServiceRecords;

beforeAll(async () => {
  cluster = await startCluster();
  books = new ServiceRecords(cluster);
  await books.rows(FORGET_THE_DEMO);
}, 90_000);

afterAll(async () => {
  await books.close();
  await cluster.stop();
});

function ledger(args: string): Promise<ToolRun> {
  return runTool('apps/cli/main.js ledger', args.split(' '), { DATA_DIR: cluster.dataDir });
}

async function done(args: string): Promise<string> {
  const { code, output, errors } = await ledger(args);
  expect([code, errors]).toEqual([0, '']);
  return output;
}

async function enter(email: string, role: string, more: readonly string[] = []): Promise<string> {
  const terms = ['--name', email, '--role', role, '--venue', VENUE, '--max-quantity-atoms', '1000000000'];
  const args = ['add', email, ...terms, ...more, '--output', 'json'];
  const env = { DATA_DIR: cluster.dataDir };
  const { code, output, errors } = await runTool('apps/cli/main.js accounts', args, env, `${PASSWORD}\n`);
  expect([code, errors]).toEqual([0, '']);
  return (JSON.parse(output) as { account: { account_id: string } }).account.account_id;
}

async function lacksOf(email: string): Promise<readonly string[]> {
  const { accounts } = JSON.parse(await done(`show --account ${email} --output json`)) as Shown;
  return accounts.flatMap(({ lacks }) => lacks);
}

describe('a cluster without a seed', () => {
  const ids: string[] = [];

  it('gets its accounts, one of them under the id that its awards name', async () => {
    ids.push(await enter(HOUSE, 'ORIGINATOR'));
    ids.push(await enter(DESK, 'MARKET_MAKER', ['--account-id', DESK_ID]));
    expect(ids[1]).toBe(DESK_ID);
    const other = ['add', 'else@books.example', '--name', 'x', '--role', 'VIEWER', '--account-id', DESK_ID];
    const { code, errors } = await runTool('apps/cli/main.js accounts', other, {
      DATA_DIR: cluster.dataDir,
    });
    expect([code, errors]).toEqual([1, `accounts: ${DESK_ID} is the account of ${DESK}\n`]);
  });

  it('says what each account lacks to trade, until it lacks nothing', async () => {
    expect(await lacksOf(HOUSE)).toEqual([
      `no contract trades on ${VENUE}`,
      `no collateral on ${VENUE}`,
      `no limit on ${VENUE}`,
      'no limit over all venues',
    ]);
    expect(await done(TERMS)).toBe(`${VENUE}/h-snow/YES is registered and trades\n`);
    for (const email of [HOUSE, DESK]) {
      await done(
        `open --account ${email} --venue ${VENUE} --amount-atoms 50000000 --reference wire-${email}`,
      );
      await done(`limit --account ${email} --venue ${VENUE} --amount-atoms 1000000000`);
      expect(await lacksOf(email)).toEqual(['no limit over all venues']);
      await done(`limit --account ${email} --amount-atoms 1000000000`);
      expect(await lacksOf(email)).toEqual([]);
    }
    expect(await done('show')).toContain(`opened by wire-${DESK}: 50000000 of collateral on ${VENUE}`);
  });

  it('trades to the end', async () => {
    const floor = new TradingFloor(cluster);
    const [house, desk] = (await Promise.all(
      [HOUSE, DESK].map(
        async (email, at) => new Trader(email, ids[at]!, await floor.anybody.login(email, PASSWORD)),
      ),
    )) as [Trader, Trader];
    const body = auctionBody({ ...MARKET, ...GRID }, [desk], { duration_ms: 1_500 });
    const { auction_id: id } = await eventually(async () => mustBe(201, await house.create(body)));
    await desk.quotes(id, 400_000, 10);
    await house.until(id, 'SETTLED');
    expect(await books.collateral(house.accountId, VENUE)).toBe(50_000_000 - 4_000_000);
    expect(await books.collateral(desk.accountId, VENUE)).toBe(50_000_000 - 6_000_000);
    expect(await books.imbalances()).toEqual({});
    house.api.close();
    desk.api.close();
    floor.close();
  });

  it('enters an opening once for its reference, and nothing else under that reference', async () => {
    const [before] = await books.rows(ALL_BOOKS);
    const again = `open --account ${HOUSE} --venue ${VENUE} --amount-atoms 50000000 --reference wire-${HOUSE}`;
    expect(await done(again)).toMatch(/entered before\n$/);
    const other = await ledger(again.replace('50000000', '60000000'));
    expect([other.code, other.errors]).toEqual([
      1,
      `ledger: wire-${HOUSE} was already entered, with other values\n`,
    ]);
    expect(await done(TERMS)).toContain('was already registered');
    expect((await ledger(TERMS.replace('10000 ', '20000 '))).code).toBe(1);
    expect((await books.rows(ALL_BOOKS))[0]).toEqual(before);
  });

  it('gives tokens of a contract, which count towards the limit on the venue', async () => {
    await done(
      `open --account ${DESK} --venue ${VENUE} --contract-id h-snow --outcome YES --amount-atoms 7000000 --reference t-1`,
    );
    const rows = await books.rows<{ resource: string; amount: string }>(
      `select resource || asset as resource, amount::text from risk.evidence
       where account_id = $1 and resource in ('OUTCOME_TOKEN', 'VENUE_POSITION_LIMIT') order by 1`,
      [DESK_ID],
    );
    expect(rows).toEqual([
      { resource: 'OUTCOME_TOKENh-snow/NO', amount: '10000000' },
      { resource: 'OUTCOME_TOKENh-snow/YES', amount: '7000000' },
      { resource: 'VENUE_POSITION_LIMIT', amount: String(1_000_000_000 - 17_000_000) },
    ]);
    expect(await books.imbalances()).toEqual({});
  });

  it('keeps the name that a contract has outside, whatever login tries to change it', async () => {
    for (const change of ['delete from custody.openings', `update custody.openings set reference = 'x'`]) {
      await expect(books.rows(change)).rejects.toThrow('append-only');
    }
  });

  it('reports when no process renews the evidence', async () => {
    const pid = cluster.kill('settler', 'SIGSTOP');
    await books.rows(`update risk.evidence set authority_valid_until = now() where account_id = $1`, [
      DESK_ID,
    ]);
    expect(await lacksOf(DESK)).toEqual(['evidence is missing or out of date: does a settler run?']);
    process.kill(pid, 'SIGCONT');
  });

  it('closes a market for good', async () => {
    const market = `market --venue ${VENUE} --contract-id h-snow --outcome YES --status`;
    await done(`${market} PAUSED`);
    expect(await lacksOf(HOUSE)).toEqual([`no contract trades on ${VENUE}`]);
    await done(`${market} TRADING`);
    await done(`${market} CLOSED`);
    expect((await ledger(`${market} TRADING`)).errors).toContain('is closed for good');
  });

  it.each([
    ['', 64, 'expected one of contract, market, open, limit, show'],
    ['withdraw', 64, 'expected one of'],
    [`open --account ${HOUSE} --venue ${VENUE} --amount-atoms 1`, 64, '--reference is missing'],
    [`open --account ${HOUSE} --venue ${VENUE} --amount-atoms -5 --reference r`, 64, 'amount-atoms'],
    [`open --account ${HOUSE} --venue ${VENUE} --amount-atoms 0 --reference r`, 64, 'whole number from 1'],
    [`open --account ${HOUSE} --venue ${VENUE} --amount-atoms 1e3 --reference r`, 64, 'whole number'],
    [
      `open --account ${HOUSE} --venue ${VENUE} --amount-atoms 9007199254740992 --reference r`,
      64,
      'whole number',
    ],
    [
      `open --account ${HOUSE} --venue ${VENUE} --amount-atoms 9007199254740991 --reference r`,
      1,
      'largest sum',
    ],
    [
      `open --account ${HOUSE} --venue venue_x --amount-atoms 1 --reference r`,
      1,
      'no contract is registered',
    ],
    [`open --account who@else --venue ${VENUE} --amount-atoms 1 --reference r`, 1, 'no account who@else'],
    [`limit --account ${HOUSE} --amount-atoms 1 --amount-atoms 2`, 64, '--amount-atoms is given twice'],
    [`limit --account ${HOUSE} --amount-atoms 1 --reference r`, 64, 'limit has no --reference'],
    [TERMS.replace(NEXT_YEAR, '2020-01-01T00:00:00Z'), 64, 'in the past'],
    [TERMS.replace(NEXT_YEAR, '2027-02-30T00:00:00Z'), 64, '--closes-at must be a time'],
    [TERMS.replace('atoms 10000 ', 'atoms 1000000 '), 64, 'from 1 to 999999'],
    [`market --venue ${VENUE} --contract-id h-rain --outcome YES --status PAUSED`, 1, 'is registered'],
    ['show --account who@else', 1, 'no account who@else'],
  ])('refuses, and changes nothing: %s', async (args, code, told) => {
    const [before] = await books.rows(ALL_BOOKS);
    const run = await ledger(args);
    expect([run.code, run.errors.split('\n')[0]]).toEqual([code, expect.stringContaining(told)]);
    expect((await books.rows(ALL_BOOKS))[0]).toEqual(before);
  });

  it('is refused for a role that does not own the tables', async () => {
    const url = new URL(cluster.file.database_url);
    const role = `${decodeURIComponent(url.pathname.slice(1))}_operations`;
    await books.rows(`alter role ${role} login password 'books-books-books-1'`);
    url.username = role;
    url.password = 'books-books-books-1';
    const run = await runTool('apps/cli/main.js ledger', ['show'], { DATABASE_URL: url.href });
    expect([run.code, run.errors]).toEqual([69, expect.stringContaining('does not own the tables')]);
  });
});
