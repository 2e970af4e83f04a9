import { createHmac } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { EXIT } from '#libs/platform/process/start-fault.js';
import { RecordMacs } from './record-macs.js';
import { checkEnd, JournalUnsealed } from './sealed-end.js';

const [OLD, NEW] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
const covered = { shard: 1, epoch: 3, sequence: 40, hash: 'ab'.repeat(32) };
const seals = new RecordMacs('auction', [OLD]);
const seal = seals.sealOf(covered);

describe('the MAC of a record', () => {
  it('is valid at its own position only', () => {
    expect(seals.isGood(covered, seal)).toBe(true);
    const elsewhere = [{ shard: 2 }, { epoch: 4 }, { sequence: 41 }, { hash: 'ac'.repeat(32) }];
    // The same digits, split differently.
    const shifted = [
      { shard: 13, epoch: 0 },
      { epoch: 34, sequence: 0 },
    ];
    for (const other of [...elsewhere, ...shifted]) {
      expect(seals.isGood({ ...covered, ...other }, seal)).toBe(false);
    }
  });

  it('belongs to one family only', () => {
    expect(new RecordMacs('execution', [OLD]).isGood(covered, seal)).toBe(false);
  });

  it('is invalid if changed, cut off or made without the key', () => {
    const changed = Buffer.from(seal);
    changed[31]! ^= 1;
    const content = ['auction', covered.shard, covered.epoch, covered.sequence, covered.hash].join(' ');
    const byTheSecretItself = createHmac('sha256', OLD).update(content).digest();
    for (const other of [changed, seal.subarray(0, 31), Buffer.alloc(0), byTheSecretItself]) {
      expect(seals.isGood(covered, other)).toBe(false);
    }
  });

  it('is made with the first key, and accepted with any', () => {
    const both = new RecordMacs('auction', [NEW, OLD]);
    expect(both.isGood(covered, seal)).toBe(true);
    expect(both.sealOf(covered)).toEqual(new RecordMacs('auction', [NEW]).sealOf(covered));
    expect(new RecordMacs('auction', [NEW]).isGood(covered, seal)).toBe(false);
  });
});

describe('the end of a journal', () => {
  const end = { epoch: 3, sequence: 40, hash: covered.hash };

  it.each([
    ['with its MAC', { ...end, seal }, 40],
    ['with its MAC, long after the first one', { ...end, seal }, 2],
    ['without a row', { ...end, seal: undefined }, undefined],
    ['without a row, with any MAC', { ...end, seal: Buffer.alloc(32) }, undefined],
  ])('is accepted: %s', (_, found, sealedFrom) => {
    expect(() => checkEnd(seals, 1, found, sealedFrom)).not.toThrow();
  });

  it.each([
    ['without a MAC', { ...end, seal: undefined }, 40, 'record 40, which has no seal'],
    [
      'with the MAC of another record',
      { ...end, sequence: 41, seal },
      40,
      'if a key was removed from ID_KEY, put it back',
    ],
    ['before the first MAC', { ...end, seal }, 41, 'known to be sealed from 41 on'],
  ])('is refused: %s', (_, found, sealedFrom, reason) => {
    const attempt = (): void => checkEnd(seals, 1, found, sealedFrom);
    expect(attempt).toThrow(JournalUnsealed);
    expect(attempt).toThrow(expect.objectContaining({ exitCode: EXIT.damaged }));
    expect(attempt).toThrow(reason);
  });
});
