import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { startCluster, type OwnedCluster } from '#libs/testing/cluster/cluster.js';
import { eventually } from '#libs/testing/eventually.js';
import { describeWithKafka } from '#libs/testing/kafka/test-kafka.js';
import { runTool, type ToolRun } from '#libs/testing/cluster/tool-run.js';
import type { AuctionJson, QuoteJson } from '#libs/client/wire.js';
import { ServiceRecords } from '../e2e/books.js';
import { StreamFloor } from '../e2e/stream-floor.js';
import { auctionBody, type Trader } from '../e2e/trading-floor.js';
import { TradingLoad, type Sent } from '../e2e/trading-load.js';

jest.setTimeout(240_000);

const SETTINGS = { LIMITS_FACTOR: '50', LOAD_ACCOUNTS: 'makers:4,originators:3' };
const ANSWERS_BETWEEN_KILLS = 40;
const VICTIMS = ['owner-0', 'owner-1', 'projector', 'gateway-0', 'owner-2'];

describeWithKafka('the product under kills', { anyBrokers: true }, (kafka) => {
  let dataDir: string;
  let cluster: OwnedCluster;
  let floor: StreamFloor;
  let books: ServiceRecords;
  let originators: Trader[];
  let makers: Trader[];
  /** An auction of the first originator. */
  let first: string;
  const settings = (): Record<string, string> => ({
    KAFKA_BROKERS: kafka().addresses.join(','),
    KAFKA_TOPIC_PREFIX: `${kafka().prefix}journal.`,
  });

  beforeAll(async () => {
    dataDir = mkdtempSync(path.join(tmpdir(), 'sotto-kafka-product-'));
    chmodSync(dataDir, 0o711);
    cluster = await startCluster({ env: { ...SETTINGS, ...settings() }, dataDir });
    floor = new StreamFloor(cluster);
    books = new ServiceRecords(cluster);
    originators = await floor.traders('load-originator-1', 'load-originator-2', 'load-originator-3');
    makers = await floor.traders('load-maker-1', 'load-maker-2', 'load-maker-3');
  }, 200_000);

  afterAll(async () => {
    floor.close();
    await books.close();
    await cluster.stop();
    rmSync(dataDir, { recursive: true, force: true });
  });

  it('fills an auction that is visible over HTTP and on a stream, with nothing in journal.records', async () => {
    const [originator, maker] = [originators[0]!, makers[0]!];
    const client = await floor.listen('load-maker-1');
    const subscription = await client.subscribe();
    const { auction_id: id } = await originator.opens(
      auctionBody(floor.contract('venue_a'), [maker], { duration_ms: 2_000, limit_price_atoms: 600_000 }),
    );
    await maker.quotes(id, 500_000, 10);
    const view = await originator.until(id, 'SETTLED');
    expect(view.award?.awards).toHaveLength(1);
    const told = (await maker.timeline(id)).map(({ kind }) => kind);
    await eventually(() => {
      const { events } = client.memory.of(subscription);
      const heard = events.filter((event) => event.auction_id === id).map(({ kind }) => kind);
      expect(heard).toEqual(told);
    });
    expect(await books.rows('select from journal.records limit 1')).toEqual([]);
    first = id;
  });

  it('keeps all acknowledged commands when its processes are killed under load, and their successors read them back', async () => {
    const load = new TradingLoad(floor, originators, makers);
    load.start();
    for (const victim of VICTIMS) {
      const before = load.acknowledged.length;
      await eventually(
        () => expect(load.acknowledged.length).toBeGreaterThan(before + ANSWERS_BETWEEN_KILLS),
        60_000,
      );
      await cluster.restartOf(victim, cluster.kill(victim), 60_000);
    }
    await load.stop();
    const known = [...load.acknowledged, ...(await repeated(load.unknown))];
    const created = known.filter(({ operation }) => operation === 'create');
    for (const sent of created) await expectKept(sent, known, makers);
    expect(created.length).toBeGreaterThan(20);
  });

  const run = (program: string, ...args: string[]): Promise<ToolRun> =>
    runTool(`apps/cli/main.js ${program}`, args, { DATA_DIR: dataDir, ...settings() });

  it.each([
    ['projection', 'compare'],
    ['journal', 'verify'],
  ])('is found sound by npm run %s -- %s', async (program, command) => {
    const { code, output } = await run(program, command);
    expect([code, output]).toEqual([0, output]);
  });

  it('is reported while it trades if its ledger has an award that no journal has', async () => {
    const award = '0a000000-0000-8000-8000-000000000000';
    await books.rows(
      `insert into custody.settlements (award_id, outcome, reason, recorded_at) values ('${award}', 'FAILED', 'x', now())`,
    );
    const { code, output } = await run('journal', 'verify');
    await books.rows('alter table custody.settlements disable trigger user');
    await books.rows(`delete from custody.settlements where award_id = '${award}'`);
    await books.rows('alter table custody.settlements enable trigger user');
    const said = `Award ${award} is in the ledger, and no journal knows it: FAILED`;
    expect([code, output]).toEqual([1, expect.stringContaining(said)]);
  });

  it('does not allow its journals to be moved while it runs', async () => {
    const { code, errors } = await run('journal', 'copy', '--from', 'kafka', '--to', 'postgres');
    expect([code, errors]).toEqual([69, expect.stringContaining('stop the cluster first')]);
  });

  it('is stopped, moved to PostgreSQL and trades there with the same balances; moved back, both are alike', async () => {
    const story = await originators[0]!.timeline(first);
    floor.close();
    await cluster.stop();
    const there = await run('journal', 'copy', '--from', 'kafka', '--to', 'postgres', '--output', 'json');
    expect([there.code, there.errors]).toEqual([0, there.errors]);
    const verdict = await runTool('apps/cli/main.js journal', ['verify', '--output', 'json'], {
      DATA_DIR: dataDir,
    });
    expect([verdict.code, JSON.parse(verdict.output)]).toMatchObject([
      0,
      { sound: true, store: 'postgres', reservations: { missing: [] } },
    ]);
    expect(await run('journal', 'verify')).toMatchObject({ code: 78 });

    cluster = await startCluster({ env: SETTINGS, dataDir });
    const again = new StreamFloor(cluster);
    const [originator, maker] = await again.traders('load-originator-1', 'load-maker-1');
    expect(await originator!.timeline(first)).toEqual(story);
    const { auction_id: id } = await originator!.opens(
      auctionBody(again.contract('venue_a'), [maker!], { duration_ms: 1_000, limit_price_atoms: 600_000 }),
    );
    await maker!.quotes(id, 500_000, 10);
    await originator!.until(id, 'SETTLED');
    again.close();
    await cluster.stop();

    expect(await run('journal', 'copy', '--from', 'postgres', '--to', 'kafka')).toMatchObject({ code: 0 });
    const compared = await run('journal', 'compare', '--output', 'json');
    expect(JSON.parse(compared.output)).toMatchObject({
      alike: true,
      shards: [0, 1, 2].map((shard) => ({ shard, only_postgres: 0, only_kafka: 0 })),
    });
    expect(await run('journal', 'verify')).toMatchObject({ code: 0 });
  });
});

/** Repeats unanswered commands with their keys: the first answer, if there was one. */
async function repeated(unknown: readonly Sent[]): Promise<Sent[]> {
  const all = unknown.map(async (sent): Promise<Sent[]> => {
    const answer = await eventually(async () => {
      const heard = await sent.by.api.post<AuctionJson & QuoteJson>(sent.path, sent.body, sent.key);
      if (heard.status >= 500 || heard.status === 429 || heard.text.includes('idempotency_key_in_progress'))
        throw new Error(`${sent.path}: ${heard.status} ${heard.text}`);
      return heard;
    }, 60_000);
    return answer.status < 300 ? [{ ...sent, answer }] : [];
  });
  return (await Promise.all(all)).flat();
}

/** The auction is over, as its originator was told, and every accepted quote is in its maker's timeline once. */
async function expectKept(create: Sent, known: readonly Sent[], makers: readonly Trader[]): Promise<void> {
  const { auction_id: id, audience } = create.answer!.body;
  const again = await create.by.api.post<AuctionJson>(create.path, create.body, create.key);
  expect([again.status, again.text]).toEqual([200, create.answer!.text]);
  await eventually(async () => expect((await create.by.view(id)).phase).toBe('COMPLETED'), 30_000);
  for (const maker of makers) {
    if (!audience!.market_maker_ids.includes(maker.accountId)) continue;
    const accepted = known.filter(
      ({ operation, by, path: at }) => operation === 'submit' && by === maker && at.includes(id),
    );
    const timeline = await maker.timeline(id);
    const written = timeline.filter(({ kind }) => kind === 'QUOTE_ACCEPTED').map(({ data }) => data.quote);
    expect(written).toEqual(accepted.map(({ answer }) => answer!.body));
  }
}
