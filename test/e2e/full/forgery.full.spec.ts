import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import type pg from 'pg';
import { SNAPSHOT_FORMAT } from '#libs/auction/shard/recovery/shard-snapshot.js';
import { beforeFirst, recordHash } from '#libs/journal/hash-chain.js';
import type { EntryKind } from '#libs/journal/journal.js';
import type { OwnedCluster } from '#libs/testing/cluster/cluster.js';
import { runTool } from '#libs/testing/cluster/tool-run.js';
import { ForgersCluster } from '../forgers-cluster.js';
import { auctionBody } from '../trading-floor.js';

jest.setTimeout(60_000);

interface Verdict {
  readonly sound: boolean;
  readonly shards: readonly {
    readonly faults: readonly string[];
    readonly rules: { readonly auctions: number; readonly objections: readonly unknown[] };
  }[];
}

interface Row {
  readonly shard: number;
  readonly sequence: number;
  readonly epoch: number;
  readonly kind: EntryKind;
  readonly payload: string;
}

let forgers: ForgersCluster;
let cluster: OwnedCluster;
let database: pg.Client;
let settled: string;

/** Several makers have bid. */
beforeAll(async () => {
  forgers = await ForgersCluster.start();
  ({ cluster, database } = forgers);
  const { floor, traders } = await forgers.floor();
  const [originator, mia, max] = traders;
  const body = auctionBody(floor.contract('venue_a'), [mia, max], { duration_ms: 1_500 });
  const { auction_id: id } = await originator.opens({ ...body, client_reference: 'the first' });
  const quote = await mia.quotes(id, 420_000, 10, { client_reference: 'mine' });
  await mia.revise(quote, { price_atoms: 410_000, client_reference: 'mine still' });
  await max.quotes(id, 430_000, 10);
  await originator.cancel((await originator.opens(body)).auction_id);
  await originator.until(id, 'SETTLED');
  await originator.untilCompletedRead(id);
  settled = id;
  floor.close();
}, 90_000);
afterAll(() => forgers.stop(), 30_000);

async function verdict(): Promise<{ readonly code: number | null; readonly told: Verdict }> {
  const { code, output } = await forgers.tool('journal', 'verify', '--output', 'json');
  return { code, told: JSON.parse(output) as Verdict };
}

describe('a snapshot that no owner has sealed', () => {
  it('is not used at the next start, and operators are informed', async () => {
    const shard = Number(settled[0]);
    await database.query(
      `insert into journal.snapshots (family, shard, sequence, hash, format_version, body)
       select 'auction', shard, sequence, hash, $2, $3 from journal.records where shard = $1 order by sequence desc limit 1`,
      [shard, SNAPSHOT_FORMAT, Buffer.alloc(1_000, 'forged')],
    );
    const owner = `owner-${shard}`;
    await cluster.restartOf(owner, cluster.kill(owner));
    const metrics = await (await fetch(cluster.process(owner).metrics_url)).text();
    expect(metrics).toMatch(/^sotto_snapshots_refused_total\{[^}]*reason="seal"[^}]*\} 1$/m);
    expect(metrics).toMatch(/^sotto_snapshots_refused_total\{[^}]*reason="journal"[^}]*\} 0$/m);
    const lines = forgers.logOf(owner).split('\n');
    const told = lines.filter((line) => line.includes('a snapshot is not used'));
    expect(told).toHaveLength(1);
    expect(JSON.parse(told[0]!)).toMatchObject({
      level: 'warn',
      shard,
      sequence: expect.any(Number),
      reason: 'seal',
      msg: expect.stringContaining('its seal is missing or wrong'),
    });
  });
});

describe('npm run journal -- verify', () => {
  it('accepts what owners have written', async () => {
    const { code, told } = await verdict();
    expect([code, told.sound]).toEqual([0, true]);
    const auctions = told.shards.reduce((sum, { rules }) => sum + rules.auctions, 0);
    expect(auctions).toBe(2);
  });

  it('names a record that breaks the rules although all hashes are right and the projections follow from it', async () => {
    const sequence = await forgedEnd();
    const shard = Number(settled[0]);
    const { database_url: url } = cluster.file;
    const withoutKey = await runTool('apps/cli/main.js journal', ['verify', '--chain-only'], {
      DATABASE_URL: url,
    });
    expect(withoutKey).toMatchObject({ code: 0 });
    expect(withoutKey.output).toContain('seals were not checked');
    const rebuilt = await forgers.tool('projection', 'rebuild');
    expect(rebuilt).toMatchObject({ code: 0 });
    const { code, told } = await verdict();
    expect([code, told.sound]).toEqual([1, false]);
    expect(told.shards.flatMap(({ faults }) => faults)).toContainEqual(
      expect.stringContaining('was made with no key of ID_KEY'),
    );
    const objection = { sequence, auction_id: settled, type: 'AUCTION_COMPLETED' };
    expect(told.shards[shard]?.rules.objections).toEqual([
      { ...objection, what: 'the rules end the auction with another status' },
    ]);
    const { output } = await forgers.tool('journal', 'verify');
    expect(output).toContain(
      `shard ${shard}: record ${sequence} (AUCTION_COMPLETED of auction ${settled}) BREAKS THE RULES`,
    );
    expect(output).toContain('DAMAGED');
  });
});

/** Turns a settled award into a failed one, and recomputes all later hashes and their copies. Returns its sequence. */
async function forgedEnd(): Promise<number> {
  const shard = Number(settled[0]);
  const { rows } = await database.query<Row>(
    `select shard, sequence::int, epoch::int, kind, payload from journal.records where shard = $1 order by sequence`,
    [shard],
  );
  let previousHash = beforeFirst('auction').hash;
  let forged = 0;
  for (const row of rows) {
    const isEnd = row.payload.includes('AUCTION_COMPLETED') && row.payload.includes(settled);
    if (isEnd) forged = row.sequence;
    const payload = isEnd ? row.payload.replace('"SETTLED"', '"EXECUTION_FAILED"') : row.payload;
    const hash = recordHash({ ...row, payload, previousHash });
    await database.query(
      `update journal.records set payload = $3, hash = decode($4, 'hex') where shard = $1 and sequence = $2`,
      [shard, row.sequence, payload, hash],
    );
    previousHash = hash;
  }
  await database.query('delete from journal.snapshots where shard = $1', [shard]);
  await database.query(
    `update auction_history.projection_offsets set hash = decode($2, 'hex') where shard = $1`,
    [shard, previousHash],
  );
  return forged;
}
