import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import kafkajs from 'kafkajs';
import type pg from 'pg';
import { OracleArchive } from '../../simulator/oracle/archive.js';
import { JournalCopy } from '../../simulator/oracle/journal-copy.js';
import { Deadlines } from './deadlines.js';
import type { Findings } from './findings.js';

type Message = Pick<kafkajs.KafkaMessage, 'value' | 'timestamp'>;

const SHARDS = [0, 1, 2];
const PAGE = 5_000;
const TRIES = 30;
const TRY_AGAIN_MS = 1_000;

export interface Journals {
  readonly archive: OracleArchive;
  readonly copies: readonly JournalCopy[];
  readonly deadlines: Deadlines;
}

/** Receives a message and the time at which it was stored, in milliseconds of the one clock that never jumps. */
type Take = (value: Buffer, writtenAt: number) => void;
/** Passes on all messages of a shard, from the first to the last. */
type Messages = (shard: number, take: Take) => Promise<void>;

/** Reads all journals to their ends, without any of the production code that reads them. */
export async function readJournals(messages: Messages, findings: Findings): Promise<Journals> {
  const archive = new OracleArchive();
  const copies = SHARDS.map((shard) => new JournalCopy(shard));
  const deadlines = new Deadlines();
  for (const [shard, copy] of copies.entries()) {
    let offset = 0;
    await messages(shard, (value, writtenAt) => {
      findings.look('records of journals', () => {
        const placed = copy.take(offset, value);
        offset += 1;
        if (placed === undefined) return;
        archive.take(placed);
        deadlines.note(placed, writtenAt);
      });
    });
  }
  return { archive, copies, deadlines };
}

export function messagesInPostgres(pool: pg.Pool): Messages {
  return async (shard, take) => {
    for (let lastRead = 0; ;) {
      const { rows } = await pool.query<
        Record<'epoch' | 'sequence' | 'kind' | 'payload' | 'hash' | 'written', string>
      >(
        `select epoch, sequence, kind, payload, encode(hash, 'hex') as hash,
           extract(epoch from recorded_at) * 1000 as written from journal.records
         where family = 'auction' and shard = $1 and sequence > $2 order by sequence limit ${PAGE}`,
        [shard, lastRead],
      );
      for (const { epoch, sequence, kind, payload, hash, written } of rows) {
        // The same line as a message in the topic, so that both are read alike.
        take(Buffer.from(`1 ${epoch} ${sequence} ${kind} - - ${hash}\n${payload}`), Number(written));
        lastRead = Number(sequence);
      }
      if (rows.length < PAGE) return;
    }
  };
}

export function messagesInKafka(brokers: readonly string[], topicPrefix: string): Messages {
  const kafka = new kafkajs.Kafka({
    brokers: [...brokers],
    clientId: 'checker',
    logLevel: kafkajs.logLevel.NOTHING,
  });
  return async (shard, take) => {
    for (let tries = 1; ; tries += 1) {
      try {
        const messages = await readTopic(kafka, `${topicPrefix}auction.${shard}`);
        for (const { value, timestamp } of messages) take(value ?? Buffer.alloc(0), Number(timestamp));
        return;
      } catch (error) {
        // Restarted brokers need a moment for consumer groups.
        if (tries === TRIES) throw error;
        await sleep(TRY_AGAIN_MS);
      }
    }
  };
}

/** All messages in the topic now. */
async function readTopic(kafka: kafkajs.Kafka, topic: string): Promise<Message[]> {
  const admin = kafka.admin();
  await admin.connect();
  const [end] = await admin.fetchTopicOffsets(topic);
  await admin.disconnect();
  const last = Number(end?.high ?? 0) - 1;
  const messages: Message[] = [];
  if (last < 0) return messages;
  const consumer = kafka.consumer({ groupId: `checker-${randomUUID()}` });
  await consumer.connect();
  try {
    await consumer.subscribe({ topic, fromBeginning: true });
    await new Promise<void>((resolve, reject) => {
      consumer.on('consumer.crash', ({ payload }) => reject(payload.error));
      const eachMessage = ({ message }: kafkajs.EachMessagePayload): Promise<void> => {
        messages.push(message);
        if (Number(message.offset) >= last) resolve();
        return Promise.resolve();
      };
      consumer.run({ autoCommit: false, eachMessage }).catch(reject);
    });
  } finally {
    await consumer.disconnect();
  }
  return messages;
}
