import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import protocol from 'kafkajs/src/protocol/requests/index.js';
import { crc32c } from './crc32c.js';
import { readBatches } from './record-batches.js';
import { writeBatch } from './write-batch.js';
import { writeProduceRequest } from './produce-request.js';

const TIMESTAMP = 1_790_000_000_123;
const values = fc.array(
  fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)),
  { minLength: 1, maxLength: 200 },
);

/** The MACs of an append: its last message has one in its header. */
function sealed(all: readonly Buffer[]): Map<number, Buffer> {
  return new Map([[all.length - 1, Buffer.alloc(32, 'seal')]]);
}

/** The same batch from kafkajs's own encoder. */
async function byKafkajs(topic: string, all: readonly Buffer[]): Promise<Buffer> {
  const seals = sealed(all);
  const messages = all.map((value, place) => {
    const seal = seals.get(place);
    return { value, timestamp: TIMESTAMP, ...(seal === undefined ? {} : { headers: { seal } }) };
  });
  const partitions = [{ partition: 0, firstSequence: 0, messages }];
  const topicData = [{ topic, partitions }];
  const { request } = protocol.requests.Produce.protocol({ version: 7 })({
    acks: -1,
    timeout: 777,
    topicData,
  });
  return (await (request as { encode(): Promise<{ buffer: Buffer }> }).encode()).buffer;
}

describe('a request to produce', () => {
  it('equals the bytes that kafkajs writes', async () => {
    await fc.assert(
      fc.asyncProperty(values, fc.stringMatching(/^[a-zä.]{1,40}$/), async (all, topic) => {
        const ours = writeProduceRequest({
          topic,
          values: all,
          seals: sealed(all),
          withinMillis: 777,
          timestamp: BigInt(TIMESTAMP),
        });
        expect(ours.equals(await byKafkajs(topic, all))).toBe(true);
      }),
    );
  });

  it('equals them also for longer numbers', async () => {
    for (const length of [0, 60, 64, 8_192, 1_048_576]) {
      const all = Array<Buffer>(3).fill(Buffer.alloc(length, 'x'));
      const seals = sealed(all);
      const sent = { topic: 't', values: all, seals, withinMillis: 777, timestamp: BigInt(TIMESTAMP) };
      expect(writeProduceRequest(sent).equals(await byKafkajs('t', all))).toBe(true);
    }
    const many = Array<Buffer>(10_000).fill(Buffer.from('x'));
    const seals = sealed(many);
    const sent = { topic: 't', values: many, seals, withinMillis: 777, timestamp: BigInt(TIMESTAMP) };
    expect(writeProduceRequest(sent).equals(await byKafkajs('t', many))).toBe(true);
  });
});

it('a batch is read as it was written', () => {
  fc.assert(
    fc.property(values, (all) => {
      const seals = sealed(all);
      const { messages: read } = readBatches(writeBatch(all, 0n, seals), 0);
      expect(read.map(({ offset }) => offset)).toEqual(all.map((_, index) => index));
      expect(read.every(({ value }, index) => all[index]?.equals(value))).toBe(true);
      expect(read.map(({ seal }) => seal)).toEqual(all.map((_, index) => seals.get(index)));
    }),
  );
});

it('the checksum of "123456789" is the well-known one', () => {
  expect(crc32c(Buffer.from('123456789'))).toBe(0xe3069283);
});
