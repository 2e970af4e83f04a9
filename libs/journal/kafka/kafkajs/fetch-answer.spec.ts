import { describe, expect, it } from '@jest/globals';
import { typeOf } from './broker-link.js';
import { readFetchAnswer } from './fetch-answer.js';
import { writeBatch } from './write-batch.js';

const TOPIC = Buffer.from('journal');
const END = 9n;
const NO_RECORDS: Buffer = Buffer.alloc(0);

function int16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeInt16BE(value);
  return bytes;
}

function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
}

function int64(value: bigint): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64BE(value);
  return bytes;
}

/** A reply as a broker writes it, in version 11. */
function answer({ code = 0, topics = 1, otherBroker = -1, records = NO_RECORDS } = {}): Buffer {
  const head = [int32(0), int16(0), int32(0), int32(topics)];
  if (topics === 0) return Buffer.concat(head);
  const topic = [int16(TOPIC.length), TOPIC, int32(1), int32(0)];
  const partition = [int16(code), int64(END), int64(END), int64(0n), int32(0), int32(otherBroker)];
  return Buffer.concat([...head, ...topic, ...partition, int32(records.length), records]);
}

describe('a fetch reply', () => {
  it('has its messages, and the end of the topic at that time', () => {
    const records = writeBatch([Buffer.from('a'), Buffer.from('b')], 0n, new Map());
    const { end, messages } = readFetchAnswer(answer({ records }), 1);
    expect([end, messages]).toEqual([Number(END), [{ offset: 1, value: Buffer.from('b') }]]);
    expect(readFetchAnswer(answer(), 1)).toMatchObject({ end: Number(END), messages: [] });
  });

  it.each<[string, Parameters<typeof answer>[0], string]>([
    ['a throttling broker names no topic', { topics: 0 }, 'without its topic'],
    [
      'a leader that names another broker returns no messages',
      { otherBroker: 2 },
      'sends its readers to another broker',
    ],
  ])('says nothing about the log if %s', (_, given, said) => {
    expect(() => readFetchAnswer(answer(given), 1)).toThrow(said);
  });

  it.each([
    [2, 'CORRUPT_MESSAGE'],
    [6, 'NOT_LEADER_FOR_PARTITION'],
    [-1, 'UNKNOWN'],
  ])('means with code %d: %s', (code, type) => {
    let failure: unknown;
    try {
      readFetchAnswer(answer({ code }), 1);
    } catch (error) {
      failure = error;
    }
    expect(typeOf(failure)).toBe(type);
  });
});
