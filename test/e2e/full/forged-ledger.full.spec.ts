import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import pg from 'pg';
import { startCluster, type OwnedCluster } from '#libs/testing/cluster/cluster.js';
import { eventually } from '#libs/testing/eventually.js';
import { runTool, type ToolRun } from '#libs/testing/cluster/tool-run.js';
import { auctionBody, CONTRACT, TradingFloor, type Trader } from '../trading-floor.js';

jest.setTimeout(120_000);

const TTL_MS = 3_000;
const PRICE = 400_000;
const QUANTITY = 10;
const NOT_ALLOWED = '42501';
const NOT_SOUND = '23000';

let cluster: OwnedCluster;
let floor: TradingFloor;
let originator: Trader;
let mia: Trader;
/** Connections as the owner of the tables, and as a settler that was taken over. */
let house: pg.Client;
let insider: pg.Client;
let settledId: string;

beforeAll(async () => {
  cluster = await startCluster({ env: { LIMITS_FACTOR: '50', RISK_EVIDENCE_TTL_MS: String(TTL_MS) } });
  floor = new TradingFloor(cluster);
  [originator, mia] = (await floor.traders('originator-1', 'maker-1')) as [Trader, Trader];
  house = await connected(cluster.file.database_url);
  const environment = readFileSync(`/proc/${cluster.process('settler').pid}/environ`, 'utf8').split('\0');
  const login = environment.find((line) => line.startsWith('DATABASE_URL='))!;
  insider = await connected(login.slice('DATABASE_URL='.length));
  const { auction_id: id } = await opens(1_500);
  await originator.until(id, 'SETTLED');
  settledId = await awardOf(id);
}, 90_000);

afterAll(async () => {
  floor.close();
  await Promise.all([house.end(), insider.end()]);
  await cluster.stop();
}, 30_000);

async function connected(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  return client;
}

async function opens(durationMs: number): Promise<{ readonly auction_id: string }> {
  const body = auctionBody(floor.contract('venue_a'), [mia], { duration_ms: durationMs });
  const auction = await originator.opens(body);
  await mia.quotes(auction.auction_id, PRICE, QUANTITY);
  return auction;
}

function verify(): Promise<ToolRun> {
  return runTool('apps/cli/main.js journal', ['verify'], { DATA_DIR: cluster.dataDir });
}

/** The auction's only award, once it exists. */
function awardOf(auctionId: string): Promise<string> {
  return eventually(async () => {
    const { rows } = await house.query<{ payload: string }>(
      `select payload from journal.records where payload like '%AUCTION_AWARDED%' and payload like '%' || $1 || '%'`,
      [auctionId],
    );
    const [, award] = /"award_id":"([^"]+)"/.exec(rows[0]?.payload ?? '') ?? [];
    if (award === undefined) throw new Error(`${auctionId} has no award`);
    return award;
  }, 20_000);
}

type Line = readonly [account: string, asset: string, amount: number];

/** Settles through the only function for it. Returns the number of the transaction. */
async function settle(award: string, lines: readonly Line[], token: string, delivered = 0): Promise<string> {
  await insider.query('begin');
  try {
    await insider.query('select custody.claim_settlement($1)', [award]);
    const { rows } = await insider.query<{ id: string }>(
      `select custody.post_settlement($1, 'venue_a', $2, $3, $4, $5, $6)::text as id`,
      [award, token, delivered, ...[0, 1, 2].map((at) => lines.map((line) => line[at]))],
    );
    await insider.query('commit');
    return rows[0]!.id;
  } catch (error) {
    await insider.query('rollback');
    throw error;
  }
}

describe('with the login of a settler', () => {
  const attempts: [string, string, string][] = [
    [
      'open an account',
      NOT_ALLOWED,
      `with t as (insert into custody.transactions (kind, recorded_at) values ('OPENING', now()) returning transaction_id)
       insert into custody.entries select transaction_id, e.* from t, (values ('system:opening', 'vault', 'venue_a', '', 'available', -5), ('m', 'vault', 'venue_a', '', 'available', 5)) as e`,
    ],
    [
      'enter a settlement of nothing',
      NOT_ALLOWED,
      `insert into custody.transactions (kind, recorded_at) values ('SETTLEMENT', now())`,
    ],
    [
      'enter money',
      NOT_ALLOWED,
      `insert into custody.entries values (1, 'm', 'vault', 'venue_a', '', 'available', 5)`,
    ],
    ['change a balance', NOT_ALLOWED, 'update custody.balances set amount = amount + 5'],
    ['exchange the transactions of awards', NOT_ALLOWED, 'update custody.settlements set transaction_id = 1'],
    ['name another venue', NOT_ALLOWED, `update custody.settlements set venue = 'venue_b'`],
    ['have an award forgotten', NOT_ALLOWED, 'delete from custody.settlements'],
    [
      'give an award up',
      NOT_ALLOWED,
      `insert into custody.settlements (award_id, outcome, reason, recorded_at) values ('${randomUUID()}', 'FAILED', 'x', now())`,
    ],
    ['name an opening', NOT_ALLOWED, `insert into custody.openings values ('wire-1', 1)`],
    ['take a guard away', NOT_ALLOWED, 'drop trigger settlements_stay on custody.settlements'],
    [
      'call an award settled and move nothing',
      NOT_SOUND,
      `select custody.claim_settlement('${randomUUID()}')`,
    ],
    [
      'make collateral',
      NOT_SOUND,
      `select custody.post_settlement('${randomUUID()}', 'venue_a', 'c/YES', 0, '{m,system:issuer}', '{"",""}', '{5,-5}')`,
    ],
    [
      'empty the escrow',
      NOT_SOUND,
      `select custody.post_settlement('${randomUUID()}', 'venue_a', 'c/YES', 0, '{m,system:escrow}', '{"",""}', '{5,-5}')`,
    ],
  ];

  it.each(attempts)('it is impossible to %s', async (_what, code, statement) => {
    await expect(insider.query(statement)).rejects.toMatchObject({ code });
  });

  it('an award cannot be settled twice', async () => {
    const lines: Line[] = [
      [originator.accountId, '', -5],
      [mia.accountId, '', 5],
    ];
    await expect(settle(settledId, lines, 'c/YES')).rejects.toMatchObject({ code: NOT_SOUND });
  });

  it('evidence is written again, and that is counted', async () => {
    expect(await figure('sotto_evidence_restated_total')).toBe(0);
    const amountOf = async () => {
      const { rows } = await insider.query<{ amount: string }>(
        `select amount::text from risk.evidence where account_id = $1 and venue = 'venue_a' and resource = 'COLLATERAL'`,
        [mia.accountId],
      );
      return rows[0]?.amount;
    };
    const before = await amountOf();
    await insider.query(
      `update risk.evidence set amount = amount * 2 where account_id = $1 and venue = 'venue_a' and resource = 'COLLATERAL'`,
      [mia.accountId],
    );
    await eventually(async () => expect(await amountOf()).toBe(before), 3 * TTL_MS);
    await eventually(async () => expect(await figure('sotto_evidence_restated_total')).toBe(1));
  });

  it('none of that has moved an atom', async () => {
    const told = await verify();
    expect([told.code, told.output]).toEqual([0, expect.stringContaining('SOUND')]);
    expect(told.output).toContain('all as the journals say, and every transaction is explained');
  });

  it('an invented award is named, and so is one that was settled for another price', async () => {
    const invented = randomUUID().replace(/^./, '0');
    const first = await settle(
      invented,
      [
        [originator.accountId, '', -5],
        [mia.accountId, '', 5],
      ],
      'c/YES',
    );
    const quantity = QUANTITY * CONTRACT;
    const { contract_id: contract } = floor.contract('venue_a');
    const [yes, no] = [`${contract}/YES`, `${contract}/NO`];
    const cheap = await settledOtherwise(quantity, [
      [originator.accountId, '', -1],
      [mia.accountId, '', 1],
      [originator.accountId, yes, quantity],
      [mia.accountId, yes, -quantity],
    ]);
    // The seller has reserved its tokens, not the collateral for issuing others.
    const issued = await settledOtherwise(0, [
      [originator.accountId, '', -1],
      [mia.accountId, '', 1 - quantity],
      ['system:escrow', '', quantity],
      [originator.accountId, yes, quantity],
      ['system:issuer', yes, -quantity],
      [mia.accountId, no, quantity],
      ['system:issuer', no, -quantity],
    ]);
    const { code, output } = await verify();
    expect(code).toBe(1);
    expect(output).toContain(
      `Award ${invented} is in the ledger, and no journal knows it: SETTLED by transaction ${first}`,
    );
    const record = (id: string) => String.raw`see record \d+ of shard ${id.charAt(0)}`;
    for (const said of [
      String.raw`Award ${cheap.id}: transaction ${cheap.transaction} enters -?1 for \S+ on venue_a, collateral instead of -?4000000: ${record(cheap.id)}`,
      String.raw`Award ${issued.id}: transaction ${issued.transaction} settled it by venue_a/${yes} with 0 delivered, which exceeds what is reserved for it: ${record(issued.id)}`,
    ])
      expect(output).toMatch(new RegExp(said));
    expect(output).not.toContain(settledId);
  });
});

/** Settles a real award before the settler does; the journal then reports what the ledger says. */
async function settledOtherwise(
  delivered: number,
  lines: readonly Line[],
): Promise<{ readonly id: string; readonly transaction: string }> {
  const { contract_id: contract } = floor.contract('venue_a');
  const { auction_id: auction } = await opens(2_000);
  const { pid } = cluster.process('settler');
  process.kill(pid, 'SIGSTOP');
  try {
    const id = await awardOf(auction);
    const transaction = await settle(id, lines, `${contract}/YES`, delivered);
    process.kill(pid, 'SIGCONT');
    await originator.until(auction, 'SETTLED');
    return { id, transaction };
  } finally {
    process.kill(pid, 'SIGCONT');
  }
}

/** The sum over all settlers. */
async function figure(name: string): Promise<number> {
  const texts = await Promise.all(
    cluster.file.processes
      .filter(({ kind }) => kind === 'settler')
      .map(async ({ metrics_url: url }) => (await fetch(url)).text()),
  );
  const values = texts.flatMap((text) => [
    ...text.matchAll(new RegExp(String.raw`^${name}(?:\{[^}]*\})? (\d+)$`, 'gm')),
  ]);
  return values.reduce((sum, [, value]) => sum + Number(value), 0);
}
