import { connect } from 'node:net';
import { jest, expect } from '@jest/globals';
import { Kafka, logLevel } from 'kafkajs';
import { SystemClock } from '#libs/platform/time/system-clock.js';
import { describeJournal } from '#libs/testing/contracts/journal.contract.js';
import type { JournalSubject, Tampering } from '#libs/testing/contracts/journal-subject.js';
import { describeWithKafka, type TestKafka } from '#libs/testing/kafka/test-kafka.js';
import { openProxy, type TcpProxy } from '#libs/testing/network/tcp-proxy.js';
import type { JournalFamily } from '../journal-id.js';
import { KafkaJournal } from './kafka-journal.js';
import { eventually } from '#libs/testing/eventually.js';
import { KafkaJournalReader } from './kafka-reader.js';
import type { KafkaAddress } from './kafkajs/kafka-address.js';
import { KafkajsTopics } from './kafkajs/kafkajs-topics.js';
import { decodeRecord, encodeRecord } from './record-format.js';

jest.setTimeout(60_000);

const clock = new SystemClock();

describeWithKafka('on Kafka', { anyBrokers: true }, (kafka) => {
  describeJournal('the journal', () => subjectOf(kafka()));
});

function topicsOf(
  { addresses, prefix }: TestKafka,
  address: Partial<KafkaAddress> = {},
  family: JournalFamily = 'auction',
): KafkajsTopics {
  return new KafkajsTopics({ brokers: addresses, clientId: 'test', ...address }, { prefix, family }, clock);
}

/**
 * One proxy for each broker. Brokers advertise their own addresses, and the proxies receive the clients' connections
 * nevertheless.
 */
async function proxiesOf({ addresses }: TestKafka): Promise<Map<number, TcpProxy>> {
  const admin = new Kafka({ brokers: [...addresses], clientId: 'test', logLevel: logLevel.NOTHING }).admin();
  await admin.connect();
  const { brokers } = await admin.describeCluster();
  await admin.disconnect();
  const opened = brokers.map(
    async ({ host, port }) => [port, await openProxy({ target: { host, port } })] as const,
  );
  return new Map(await Promise.all(opened));
}

async function subjectOf(kafka: TestKafka): Promise<JournalSubject> {
  const proxies = await proxiesOf(kafka);
  const each = (fault: (proxy: TcpProxy) => void) => () => {
    for (const proxy of proxies.values()) fault(proxy);
  };
  const direct = topicsOf(kafka);
  const proxied = topicsOf(kafka, {
    readWithinMillis: 400,
    socketFactory: ({ port, onConnect }) =>
      connect({ host: '127.0.0.1', port: proxies.get(port)?.port ?? port }, onConnect),
  });
  const opened: number[] = [];
  let reader = readerOf(direct, opened);
  const others = topicsOf(kafka, {}, 'execution');
  const otherReader = new KafkaJournalReader({
    family: 'execution',
    openLog: (shard) => others.open(shard),
    shards: [],
  });
  return {
    journalOf: (opener) =>
      new KafkaJournal({
        family: 'auction',
        openLog: async (shard) => {
          await (await direct.prepare(shard)).close();
          opened.push(shard);
          return proxied.open(shard);
        },
        clock,
        opener,
        appendWithinMillis: 400,
        settleWithinMillis: 1_500,
      }),
    // A topic never changes in place, so a test that rewrites it needs a reader that has not seen the old one.
    reader: {
      read: (...asked) => reader.read(...asked),
      entries: (...asked) => reader.entries(...asked),
      heads: (...asked) => reader.heads(...asked),
    },
    faults: {
      loseAnswer: each((proxy) => {
        proxy.blackhole('to-client');
        proxy.heal();
      }),
      loseAppend: each((proxy) => {
        proxy.blackhole('to-server');
        proxy.heal();
      }),
      isolate: each((proxy) => {
        proxy.blackhole('to-client');
        proxy.refuse();
      }),
      cut: each((proxy) => proxy.cut()),
      heal: each((proxy) => proxy.heal()),
    },
    tamper: async (shard, sequence, tampering) => {
      await reader.close();
      await tamper(direct, shard, sequence, tampering);
      reader = readerOf(direct, opened);
    },
    other: {
      journal: new KafkaJournal({
        family: 'execution',
        openLog: (shard) => others.prepare(shard),
        clock,
        opener: 'ada',
      }),
      reader: otherReader,
    },
    giveToOther: async (shard) => {
      const [from, to] = [direct.open(shard), await others.prepare(shard)];
      const messages = await from.fetch(0, 4_000_000);
      await to.append(
        messages.map(({ value }) => value),
        5_000,
      );
      await Promise.all([from.close(), to.close()]);
    },
    dispose: async () => {
      await otherReader.close();
      await reader.close();
      await Promise.all([...proxies.values()].map((proxy) => proxy.close()));
    },
  };
}

function readerOf(topics: KafkajsTopics, shards: readonly number[]): KafkaJournalReader {
  return new KafkaJournalReader({ family: 'auction', openLog: (shard) => topics.open(shard), shards });
}

/** A topic cannot be changed in place, but a user that may delete it can rewrite it. */
async function tamper(
  topics: KafkajsTopics,
  shard: number,
  sequence: number,
  tampering: Tampering,
): Promise<void> {
  const log = topics.open(shard);
  const values: Buffer[] = [];
  for (let from = 0; ; from = values.length) {
    const messages = await log.fetch(from, 4_000_000);
    if (messages.length === 0) break;
    values.push(...messages.map(({ value }) => value));
  }
  await log.close();
  const rewritten = values.flatMap((value) => {
    const record = decodeRecord(value);
    if (record?.sequence !== sequence) return [value];
    if (tampering === 'removed') return [];
    const { epoch, kind, hash } = { ...record, ...tampering };
    const payload = tampering.payload ?? record.payload.toString();
    const moved = tampering.sequence ?? sequence;
    const changed = { shard, epoch, sequence: moved, previousHash: '', payload, hash };
    return [encodeRecord({ ...changed, kind: kind as 'event' }, record.anchor)];
  });
  await topics.remove(shard);
  // A broker still lists a topic for a moment after its deletion.
  await eventually(async () => expect(await topics.exists(shard)).toBe(false));
  const recreated = await topics.prepare(shard);
  await recreated.append(rewritten, 5_000);
  await recreated.close();
}
