import { createHmac } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { EXIT } from '#libs/platform/process/start-fault.js';
import { RecordMacs } from './record-macs.js';
import { checkEnd, JournalUnsealed } from './sealed-end.js';

const [OLD, NEW] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
const place = { shard: 1, epoch: 3, sequence: 40, hash: 'ab'.repeat(32) };
const seals = new RecordMacs('auction', [OLD]);
const seal = seals.sealOf(place);

describe('the seal of a record', () => {
  it('is good at its own place, and nowhere else', () => {
    expect(seals.isGood(place, seal)).toBe(true);
    const elsewhere = [{ shard: 2 }, { epoch: 4 }, { sequence: 41 }, { hash: 'ac'.repeat(32) }];
    // The same digits, cut otherwise.
    const shifted = [
      { shard: 13, epoch: 0 },
      { epoch: 34, sequence: 0 },
    ];
    for (const other of [...elsewhere, ...shifted]) {
      expect(seals.isGood({ ...place, ...other }, seal)).toBe(false);
    }
  });

  it('is of one family alone', () => {
    expect(new RecordMacs('execution', [OLD]).isGood(place, seal)).toBe(false);
  });

  it('is none when it was changed, cut off or made without the key', () => {
    const changed = Buffer.from(seal);
    changed[31]! ^= 1;
    const content = ['auction', place.shard, place.epoch, place.sequence, place.hash].join(' ');
    const byTheSecretItself = createHmac('sha256', OLD).update(content).digest();
    for (const other of [changed, seal.subarray(0, 31), Buffer.alloc(0), byTheSecretItself]) {
      expect(seals.isGood(place, other)).toBe(false);
    }
  });

  it('is made with the first key, and believed under any', () => {
    const both = new RecordMacs('auction', [NEW, OLD]);
    expect(both.isGood(place, seal)).toBe(true);
    expect(both.sealOf(place)).toEqual(new RecordMacs('auction', [NEW]).sealOf(place));
    expect(new RecordMacs('auction', [NEW]).isGood(place, seal)).toBe(false);
  });
});

describe('the end of a journal', () => {
  const end = { epoch: 3, sequence: 40, hash: place.hash };

  it.each([
    ['with its seal', { ...end, seal }, 40],
    ['with its seal, and long since sealed', { ...end, seal }, 2],
    ['of no row', { ...end, seal: undefined }, undefined],
    ['of no row, whatever stands there', { ...end, seal: Buffer.alloc(32) }, undefined],
  ])('is gone on from: %s', (_, found, sealedFrom) => {
    expect(() => checkEnd(seals, 1, found, sealedFrom)).not.toThrow();
  });

  it.each([
    ['without a seal', { ...end, seal: undefined }, 40, 'record 40, which has no seal'],
    [
      'with the seal of another',
      { ...end, sequence: 41, seal },
      40,
      'put the key back that was taken out of it',
    ],
    ['that is too early', { ...end, seal }, 41, 'known to be sealed from 41 on'],
  ])('is refused: %s', (_, found, sealedFrom, reason) => {
    const attempt = (): void => checkEnd(seals, 1, found, sealedFrom);
    expect(attempt).toThrow(JournalUnsealed);
    expect(attempt).toThrow(expect.objectContaining({ exitCode: EXIT.damaged }));
    expect(attempt).toThrow(reason);
  });
});
