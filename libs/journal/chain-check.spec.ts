import { describe, expect, it } from '@jest/globals';
import { checkNext, type StoredRecord } from './chain-check.js';
import { beforeFirst, hashOfBytes, linkEpoch } from './hash-chain.js';

const SHARD = 2;
const first = linkEpoch(SHARD, beforeFirst('auction'), 1, 'ada');

/** A record whose hash covers its bytes, whatever they are. */
function recordOf(payload: Buffer): StoredRecord {
  const fields = { epoch: 1, sequence: 2, kind: 'event' } as const;
  const hash = hashOfBytes({ ...fields, shard: SHARD, previousHash: first.hash }, payload);
  return { ...fields, payload, hash };
}

describe('a payload', () => {
  it.each(['', '"a"', '"é€𝄞"', '"\uFFFD"', '"\\ud800"'])(
    'that is %j is returned as it was written',
    (text) => {
      expect(checkNext(SHARD, first, recordOf(Buffer.from(text)))).toMatchObject({ payload: text });
    },
  );

  it.each([
    ['a byte that begins no character', [0xff]],
    ['a character that is cut off', [0x22, 0xf0, 0x9f, 0x98]],
    ['half of a surrogate pair', [0xed, 0xa0, 0x80]],
    ['an overlong character', [0xc0, 0xaf]],
  ])('with %s is damage, although its hash is right', (_, bytes) => {
    const reading = () => checkNext(SHARD, first, recordOf(Buffer.from(bytes)));
    expect(reading).toThrow('is corrupt at sequence 2: its payload is not UTF-8');
  });
});
