import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import type { Broker } from '#libs/platform/embedded-kafka/broker.js';
import { everything } from '#libs/testing/contracts/journal-subject.js';
import { KeptJournals } from '#libs/testing/kafka/kept-journals.js';
import { describeWithKafka } from '#libs/testing/kafka/test-kafka.js';
import { leaderOf } from './access.js';

jest.setTimeout(180_000);

const SHARD = 1;

/** With the brokers' default settings they notice only after seconds that one of them is gone. */
describeWithKafka('a start just after one of the brokers was killed', { brokers: 3 }, (kafka) => {
  let journals: KeptJournals;
  beforeAll(async () => {
    journals = await KeptJournals.begin(kafka(), [SHARD]);
    await journals.write('"a"');
  });
  afterAll(async () => {
    await journals.close();
    await journals.dispose();
  });

  const killLeader = async (): Promise<Broker> => {
    const { nodeId } = await leaderOf({ ...kafka(), prefix: journals.prefix }, SHARD);
    const leader = kafka().own!.brokers.find(({ place }) => place.id === nodeId)!;
    leader.signal('SIGKILL');
    await leader.gone();
    return leader;
  };

  it('waits for a new leader, and says so once', async () => {
    const killed = await killLeader();
    const told: string[] = [];
    const store = await journals.store({ tell: (line) => told.push(line) });
    await store.prepare();
    expect(told).toEqual([expect.stringMatching(/^(Kafka at|the topics) .*; waiting up to 30 s/)]);
    await killed.start();
    await kafka().own!.untilUsable();
  });

  it('also waits in an owner', async () => {
    const killed = await killLeader();
    const writer = await journals.owner(SHARD);
    await writer.append(['"b"']);
    const { bareReader } = await journals.store();
    const written = (await everything(bareReader, SHARD)).filter(({ kind }) => kind === 'event');
    expect(written.map(({ payload }) => payload)).toEqual(['"a"', '"b"']);
    await killed.start();
    await kafka().own!.untilUsable();
  });

  it('ends at once if no broker can be reached', async () => {
    const { brokers } = kafka().own!;
    for (const broker of brokers) broker.signal('SIGKILL');
    await Promise.all(brokers.map((broker) => broker.gone()));
    const told: string[] = [];
    const began = performance.now();
    const store = await journals.store({ tell: (line) => told.push(line) });
    await expect(store.prepare()).rejects.toMatchObject({
      exitCode: 69,
      message: expect.stringContaining('ECONNREFUSED'),
    });
    expect(performance.now() - began).toBeLessThan(15_000);
    expect(told).toEqual([]);
  });
});
