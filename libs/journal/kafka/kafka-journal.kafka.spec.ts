import { connect } from 'node:net';
import { afterAll, beforeAll, describe, it } from '@jest/globals';
import { SystemClock } from '#libs/platform/system-clock.js';
import { describeJournal } from '#libs/testing/contracts/journal.contract.js';
import type { Tampering } from '#libs/testing/contracts/journal-subject.js';
import { startTestKafka, whyNoKafka, type TestKafka } from '#libs/testing/kafka/test-kafka.js';
import { openProxy } from '#libs/testing/tcp-proxy.js';
import { KafkaJournal } from './kafka-journal.js';
import { KafkaJournalReader } from './kafka-reader.js';
import type { KafkaAddress } from './kafkajs/kafkajs-connection.js';
import { KafkajsTopics } from './kafkajs/kafkajs-topics.js';
import { decodeRecord, encodeRecord } from './record-format.js';

const missing = whyNoKafka(process.env);
const clock = new SystemClock();
const millis = (): number => Number(clock.monotonicNanos() / 1_000_000n);
let test: TestKafka;

if (missing !== undefined) {
  describe('the journal in Kafka', () => {
    it.skip(`SKIPPED: ${missing}`, () => undefined);
  });
} else {
  beforeAll(async () => {
    test = await startTestKafka(1);
  }, 120_000);
  afterAll(() => test.stop());
  describeJournal('the journal in Kafka', subject);
}

function topicsAt(address: Partial<KafkaAddress>): KafkajsTopics {
  const { addresses } = test.kafka;
  return new KafkajsTopics(
    { brokers: addresses, clientId: 'test', ...address },
    { prefix: 'test.journal.' },
    millis,
  );
}

async function subject() {
  const [broker] = test.kafka.brokers;
  const target = { host: '127.0.0.1', port: broker?.place.port ?? 0 };
  const proxy = await openProxy({ target });
  const direct = topicsAt({});
  // Brokers tell their clients where they are; this is how clients come through the proxy all the same.
  const proxied = topicsAt({
    readWithinMillis: 400,
    socketFactory: ({ onConnect }) => connect({ host: '127.0.0.1', port: proxy.port }, onConnect),
  });
  let reader = readerOf(direct);
  return {
    journalOf: (opener: string) =>
      new KafkaJournal({
        openLog: async (shard) => {
          await (await direct.prepare(shard)).close();
          return proxied.open(shard);
        },
        clock,
        opener,
        appendWithinMillis: 400,
        settleWithinMillis: 1_500,
      }),
    // Nothing in a topic ever changes; who writes it anew needs readers that have not seen the old one.
    reader: {
      read: (...asked: Parameters<KafkaJournalReader['read']>) => reader.read(...asked),
      entries: (...asked: Parameters<KafkaJournalReader['entries']>) => reader.entries(...asked),
      heads: () => reader.heads(),
    },
    faults: {
      loseAnswer: () => {
        proxy.blackhole('to-client');
        proxy.heal();
      },
      loseAppend: () => {
        proxy.blackhole('to-server');
        proxy.heal();
      },
      isolate: () => {
        proxy.blackhole('to-client');
        proxy.refuse();
      },
      cut: () => {
        proxy.cut();
      },
      heal: () => {
        proxy.heal();
      },
    },
    tamper: async (shard: number, sequence: number, tampering: Tampering) => {
      await reader.close();
      await tamper(direct, shard, sequence, tampering);
      reader = readerOf(direct);
    },
    dispose: async () => {
      await reader.close();
      await proxy.close();
    },
  };
}

function readerOf(topics: KafkajsTopics): KafkaJournalReader {
  return new KafkaJournalReader({ openLog: (shard) => topics.open(shard), shards: () => topics.shards() });
}

/** Nobody can change a topic in place; whoever may delete it can write it anew. */
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
  const rewritten = values.flatMap((value, offset) => {
    const record = decodeRecord(shard, offset, value);
    if (record.sequence !== sequence) return [value];
    if (tampering === 'removed') return [];
    const changed = { ...record, shard, previousHash: '', ...tampering };
    return [encodeRecord({ ...changed, kind: changed.kind as 'event' }, record.anchor)];
  });
  await topics.remove(shard);
  const anew = await topics.prepare(shard);
  await anew.append(rewritten, 5_000);
  await anew.close();
}
