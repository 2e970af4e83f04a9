import path from 'node:path';
import { open, readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { WebSocket } from 'ws';
import { BATCH, PREFIX } from '#libs/journal/kafka/kafkajs/write-batch.js';
import { DATA_FOLDER } from '#libs/platform/embedded-kafka/server-properties.js';
import type { OwnedCluster } from '#libs/testing/cluster/cluster.js';
import { eventually } from '#libs/testing/eventually.js';
import { describeWithKafka, type TestKafka } from '#libs/testing/kafka/test-kafka.js';
import type { ToolRun } from '#libs/testing/cluster/tool-run.js';
import { keyFor, StreamFloor } from '../e2e/stream-floor.js';
import { auctionBody, mustBe, type Trader, TradingFloor } from '../e2e/trading-floor.js';
import { topicsAt } from './access.js';
import { ClusterOnKafka } from './cluster-on-kafka.js';

jest.setTimeout(240_000);

const DAMAGED = 1;
const OTHERS = [0, 2];
/** The owner's own record: the second of its shard, in the second batch. */
const SEQUENCE = 2;
const SAID = `journal of shard ${DAMAGED} is corrupt at sequence ${SEQUENCE}: offset ${SEQUENCE - 1} of its topic cannot be read`;

/** Flips a bit in the header of a topic's last batch, on its broker's disk; a second call restores it. */
async function flip(kafka: TestKafka, shard: number, byte: number): Promise<void> {
  const folder = kafka.own!.brokers[0]!.place.folder;
  const topic = `${topicsAt(kafka).nameOf(shard)}-0`;
  const file = path.join(folder, DATA_FOLDER, topic, '00000000000000000000.log');
  const log = await readFile(file);
  let last = 0;
  for (let at = 0; at < log.length; at += PREFIX + log.readInt32BE(at + BATCH.length)) last = at;
  const handle = await open(file, 'r+');
  try {
    await handle.write(Buffer.of(log.readUInt8(last + byte) ^ 1), 0, 1, last + byte);
  } finally {
    await handle.close();
  }
}

describeWithKafka("a cluster with a flipped bit on a broker's disk", {}, (kafka) => {
  let site: ClusterOnKafka;
  let cluster: OwnedCluster;
  const tool = (...args: string[]): Promise<ToolRun> => site.journal(...args);
  const logOf = (name: string): string => site.logOf(name);
  const readiness = (name: string): Promise<unknown> => site.readiness(name);
  let token: string;
  const restart = (name: string): Promise<void> => cluster.restartOf(name, cluster.kill(name));

  beforeAll(async () => {
    site = await ClusterOnKafka.start(kafka(), 'damaged-topics');
    ({ cluster } = site);
    await restart(`owner-${DAMAGED}`);
    await flip(kafka(), DAMAGED, BATCH.length);
  }, 200_000);
  afterAll(() => site.end());

  it('names the shard and the record, and shows all others', async () => {
    for (const args of [['--chain-only'], []]) {
      const { code, output } = await tool('verify', ...args);
      expect([code, output]).toEqual([1, expect.stringContaining(`shard ${DAMAGED}: ${SAID}`)]);
      for (const shard of OTHERS) expect(output).toMatch(new RegExp(`^shard ${shard}: .*chain whole`, 'm'));
      expect(output).toContain('DAMAGED: see above');
    }
    const { code, output, errors } = await tool('dump');
    expect([code, errors]).toEqual([1, expect.stringContaining(`journal: ${SAID}`)]);
    const lines = output
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { shard: number; sequence: number });
    expect(lines.filter(({ shard }) => shard === DAMAGED).map(({ sequence }) => sequence)).toEqual([1]);
    for (const shard of OTHERS) expect(lines.filter((line) => line.shard === shard)).not.toEqual([]);
  });

  it('has an owner that ends with 65 and says why, and a projector that does not report an unreachable broker', async () => {
    const told = new RegExp(`"exit_code":65,.*"msg":"${SAID}`);
    // Every half second it checks that its last record is still where it was written.
    await eventually(() => expect(logOf(`owner-${DAMAGED}`)).toMatch(told), 60_000);
    cluster.kill('projector');
    await eventually(
      async () => expect(await readiness('projector')).toEqual({ status: 'journal_unreadable' }),
      60_000,
    );
    await eventually(() => expect(logOf('projector')).toContain(SAID), 60_000);
  });

  it('projects events of the other shards, with a projector that starts now', async () => {
    const floor = new TradingFloor(cluster);
    const [originator, mia] = (await floor.traders('originator-1', 'maker-1')) as [Trader, Trader];
    const body = auctionBody(floor.contract('venue_a'), [mia]);
    const { auction_id: id } = mustBe(201, await originator.create(body, keyFor(originator, OTHERS[0]!)));
    await originator.cancel(id);
    await originator.untilCompletedRead(id);
    floor.close();
  });

  const handshake = (token: string): Promise<unknown> =>
    new Promise((resolve) => {
      const url = `${cluster.gatewayUrl.replace(/^http/, 'ws')}/v1/stream`;
      const socket = new WebSocket(url, { headers: { authorization: `Bearer ${token}` } });
      socket.on('open', () => {
        socket.terminate();
        resolve('open');
      });
      socket.on('unexpected-response', (_, { statusCode }) => {
        socket.terminate();
        resolve(statusCode);
      });
      socket.on('error', () => undefined);
    });

  it('has a gateway that restarts, takes commands for the other shards, and opens no stream that would be incomplete', async () => {
    await restart('gateway-0');
    expect(logOf('gateway-0')).toContain(SAID);
    const floor = new StreamFloor(cluster);
    const [originator, mia] = (await floor.traders('originator-1', 'maker-1')) as [Trader, Trader];
    const body = auctionBody(floor.contract('venue_a'), [mia]);
    const { auction_id: id } = mustBe(201, await originator.create(body, keyFor(originator, OTHERS[1]!)));
    mustBe(201, await mia.submit(id, { price_atoms: 500_000, quantity_atoms: 1_000_000 }));
    token = await floor.token('maker-1');
    expect(await handshake(token)).toBe(503);
    floor.close();
  });

  it('goes on when its log is restored', async () => {
    await flip(kafka(), DAMAGED, BATCH.length);
    await eventually(
      async () => expect(await readiness(`owner-${DAMAGED}`)).toEqual({ status: 'ready' }),
      60_000,
    );
    await eventually(async () => expect((await tool('verify', '--chain-only')).code).toBe(0), 60_000);
    await eventually(async () => expect(await handshake(token)).toBe('open'), 60_000);
  });
});
