import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { linkEpoch } from '#libs/journal/hash-chain.js';
import { decodeRecord, encodeRecord } from '#libs/journal/kafka/record-format.js';
import type { LogMessage, MacsByIndex } from '#libs/journal/kafka/topic-log.js';
import type { OwnedCluster } from '#libs/testing/cluster/cluster.js';
import { eventually } from '#libs/testing/eventually.js';
import { describeWithKafka } from '#libs/testing/kafka/test-kafka.js';
import type { ToolRun } from '#libs/testing/cluster/tool-run.js';
import { keyFor } from '../e2e/stream-floor.js';
import { auctionBody, mustBe, TradingFloor, type Trader } from '../e2e/trading-floor.js';
import { topicsAt } from './access.js';
import { ClusterOnKafka } from './cluster-on-kafka.js';

jest.setTimeout(240_000);

const [OUTLIVED, FORGED] = [0, 1];
const FETCH_BYTES = 1_000_000;
const NEWLINE = '\n'.charCodeAt(0);

/** An intruder with write access to the topics. */
describeWithKafka('a cluster with an intruder in its topics', { anyBrokers: true }, (kafka) => {
  let site: ClusterOnKafka;
  let cluster: OwnedCluster;
  const tool = (...args: string[]): Promise<ToolRun> => site.journal(...args);
  const logOf = (name: string): string => site.logOf(name);
  const readiness = (name: string): Promise<unknown> => site.readiness(name);
  const inTopic = async (shard: number, write: (last: LogMessage) => LogMessage): Promise<LogMessage> => {
    const log = topicsAt(kafka()).open(shard);
    try {
      const last = (await log.fetch((await log.end()) - 1, FETCH_BYTES)).at(-1)!;
      const { value, seal } = write(last);
      const seals: MacsByIndex = new Map(seal === undefined ? [] : [[0, seal]]);
      await log.append([value], 5_000, seals);
      return last;
    } finally {
      await log.close();
    }
  };
  const trades = async (shard: number): Promise<void> => {
    const floor = new TradingFloor(cluster);
    const [originator, mia] = (await floor.traders('originator-1', 'maker-1')) as [Trader, Trader];
    const body = auctionBody(floor.contract('venue_a'), [mia]);
    const key = keyFor(originator, shard);
    // The gateway may not have found the restarted owner yet.
    const { auction_id: id } = await eventually(async () => mustBe(201, await originator.create(body, key)));
    await originator.cancel(id);
    await originator.untilCompletedRead(id);
    floor.close();
  };

  beforeAll(async () => {
    site = await ClusterOnKafka.start(kafka(), 'repeated-records');
    ({ cluster } = site);
  }, 200_000);
  afterAll(() => site.end());

  it('goes on if an epoch record of a former epoch claims to be the next record', async () => {
    const name = `owner-${OUTLIVED}`;
    await cluster.restartOf(name, cluster.kill(name));
    const { pid } = cluster.process(name);
    const write = (last: LogMessage): LogMessage => {
      const record = decodeRecord(last.value)!;
      expect(record.epoch).toBeGreaterThan(1);
      return { ...last, value: encodeRecord(linkEpoch(OUTLIVED, record, 1, 'former'), undefined) };
    };
    await inTopic(OUTLIVED, write);
    await trades(OUTLIVED);
    await inTopic(OUTLIVED, write);
    await trades(OUTLIVED);
    expect(cluster.process(name).pid).toBe(pid);
    const { code, output } = await tool('verify');
    expect(code).toBe(0);
    expect(output).toMatch(new RegExp(`^shard ${OUTLIVED}: .*chain whole`, 'm'));
    await cluster.restartOf(name, cluster.kill(name));
  });

  it("has no owner, projector or gateway that goes on after the last record's content was replaced, and tools name that record", async () => {
    await trades(FORGED);
    const { offset } = await inTopic(FORGED, (last) => ({
      ...last,
      value: Buffer.concat([
        last.value.subarray(0, last.value.indexOf(NEWLINE) + 1),
        Buffer.from('{"type":"FORGED"}'),
      ]),
    }));
    const said = `offset ${offset + 1} of its topic holds another record ${offset + 1} of epoch 1`;
    const name = `owner-${FORGED}`;
    await eventually(() => expect(logOf(name)).toMatch(new RegExp(`"exit_code":65,.*${said}`)), 60_000);
    await eventually(
      async () => expect(await readiness('projector')).toEqual({ status: 'journal_unreadable' }),
      60_000,
    );
    await eventually(() => expect(logOf('projector')).toContain(said), 60_000);
    await eventually(() => expect(logOf('gateway-0')).toContain(said), 60_000);
    for (const args of [['--chain-only'], []]) {
      const { code, output } = await tool('verify', ...args);
      expect([code, output]).toEqual([1, expect.stringContaining(said)]);
      expect(output).toMatch(new RegExp(`^shard ${OUTLIVED}: .*chain whole`, 'm'));
    }
    await cluster.stop();
    const { code, errors } = await tool('copy', '--from', 'kafka', '--to', 'postgres');
    expect([code, errors]).toEqual([1, expect.stringContaining(said)]);
  });
});
