import { createHash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { beforeFirst, hashOfBytes, recordHash, linkEpoch, linkEvent } from './hash-chain.js';
import { JOURNAL_FAMILIES } from './journal-id.js';

describe('the hash of a record', () => {
  it('equals the hash that an independent implementation computes', () => {
    const first = linkEpoch(7, beforeFirst('auction'), 3, 'owner-7');
    const payload = '{"epoch":3,"opener":"owner-7"}';
    const text = `1:7,1:3,1:1,5:epoch,64:${beforeFirst('auction').hash},${payload.length}:${payload},`;
    expect(first.hash).toBe(createHash('sha256').update(text).digest('hex'));

    const second = linkEvent(7, first, '"€"');
    const next = `1:7,1:3,1:2,5:event,64:${first.hash},5:"€",`;
    expect(second.hash).toBe(createHash('sha256').update(next, 'utf8').digest('hex'));
  });

  it('covers its own shard and epoch, whatever was hashed before', () => {
    for (const [shard, epoch] of [
      [1, 1],
      [1, 2],
      [0, 2],
      [1, 2],
      [1, 1],
    ] as const) {
      const text = `1:${shard},1:${epoch},1:5,5:event,64:${beforeFirst('auction').hash},2:{},`;
      const record = {
        shard,
        epoch,
        sequence: 5,
        kind: 'event',
        previousHash: beforeFirst('auction').hash,
        payload: '{}',
      } as const;
      expect(recordHash(record)).toBe(createHash('sha256').update(text).digest('hex'));
    }
  });

  it('is the same for a payload and for its bytes, at any size', () => {
    for (const payload of ['', '{}', '"é€𝄞"', `"${'é'.repeat(40_000)}"`, '{}']) {
      const record = linkEvent(7, { epoch: 3, sequence: 1_234, hash: beforeFirst('auction').hash }, payload);
      expect(hashOfBytes(record, Buffer.from(payload))).toBe(record.hash);
    }
  });

  it('never changes: existing journals depend on it', () => {
    expect(linkEpoch(0, beforeFirst('auction'), 1, 'owner-0').hash).toBe(
      '5131c92d79609e33fb370055d05611fef7c9aa8fecbabbeed0105a8dcb65e61a',
    );
  });

  it('leads back to the genesis hash of its family', () => {
    const hashes = JOURNAL_FAMILIES.map((family) => beforeFirst(family).hash);
    expect(hashes[0]).toBe(createHash('sha256').update('sotto journal auction').digest('hex'));
    expect(new Set(hashes).size).toBe(JOURNAL_FAMILIES.length);
  });

  it('differs if any field differs, even if digits or bytes move from one field to the next', () => {
    const record = fc.record({
      shard: fc.nat(30),
      epoch: fc.nat(30),
      sequence: fc.nat(300),
      kind: fc.constantFrom('epoch' as const, 'event' as const),
      payload: fc.string({ maxLength: 3, unit: fc.constantFrom('1', ',', ':', 'é') }),
      previousHash: fc.constantFrom(beforeFirst('auction').hash, 'f'.repeat(64)),
    });
    fc.assert(
      fc.property(record, record, (one, other) => {
        const areEqual = JSON.stringify(one) === JSON.stringify(other);
        expect(recordHash(one) === recordHash(other)).toBe(areEqual);
      }),
      { numRuns: 500 },
    );
  });
});
