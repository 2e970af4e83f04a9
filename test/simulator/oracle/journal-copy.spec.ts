import { beforeEach, expect, it } from '@jest/globals';
import { beforeFirst, linkEpoch, linkEvent } from '#libs/journal/hash-chain.js';
import type { JournalEntry } from '#libs/journal/journal.js';
import { encodeRecord } from '#libs/journal/kafka/record-format.js';
import { JournalCopy } from './journal-copy.js';

const SHARD = 1;
const former = linkEpoch(SHARD, beforeFirst('auction'), 1, 'ada');
const first = linkEpoch(SHARD, former, 2, 'ben');
const last = linkEvent(SHARD, first, '{"type":"A"}');

let copy: JournalCopy;
let offset: number;

function take(entry: JournalEntry): unknown {
  return copy.take((offset += 1), encodeRecord(entry, undefined));
}

beforeEach(() => {
  copy = new JournalCopy(SHARD);
  offset = 0;
  for (const entry of [former, first]) take(entry);
  expect(take(last)).toEqual({ shard: SHARD, sequence: 3, event: { type: 'A' } });
});

it('ignores a second copy of a record, but no other record with the same sequence', () => {
  expect(take(last)).toBeUndefined();
  expect(copy.ignored).toEqual(new Map([['repeated event', 1]]));
  expect(() => take({ ...last, payload: '{"type":"B"}' })).toThrow('another record 3 of epoch 2');
  expect(() => take(linkEvent(SHARD, first, '{"type":"B"}'))).toThrow('another record 3 of epoch 2');
});

it('ignores every record of an older epoch, whatever its sequence', () => {
  for (const entry of [
    former,
    linkEpoch(SHARD, last, 1, 'ada'),
    linkEvent(SHARD, { ...last, epoch: 1 }, '{}'),
  ]) {
    expect(take(entry)).toBeUndefined();
  }
  expect([copy.head, copy.epoch]).toEqual([3, 2]);
  expect(() => take(linkEpoch(SHARD, last, 2, 'eve'))).toThrow('epoch 2 in epoch 2');
});
