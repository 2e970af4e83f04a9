import { describe, expect, it } from '@jest/globals';
import { recordHash } from '#libs/journal/hash-chain.js';
import { AuditNames } from './audit-names.js';

const KEY = Buffer.alloc(32, 7);
const names = new AuditNames(KEY);

describe('pseudonyms', () => {
  it('are the same for an account in one auction, wherever they are made', () => {
    const name = names.pseudonymsOf('auction-1')('mia');
    expect(name).toMatch(/^P-[A-HJ-NP-Z2-9]{16}$/);
    expect(new AuditNames(Buffer.alloc(32, 7)).pseudonymsOf('auction-1')('mia')).toBe(name);
  });

  it('differ by account, auction and key', () => {
    const made = [names, new AuditNames(Buffer.alloc(32, 8))].flatMap((one) =>
      ['auction-1', 'auction-2'].flatMap((auction) => ['mia', 'max'].map(one.pseudonymsOf(auction))),
    );
    expect(new Set(made).size).toBe(8);
  });
});

describe('the seal of a record', () => {
  const record = { shard: 0, epoch: 1, sequence: 9, kind: 'event', previousHash: 'ab'.repeat(32) } as const;
  const hashOf = (maker: string) => recordHash({ ...record, payload: JSON.stringify({ maker }) });

  it('does not reveal which of a few accounts is in it to a reader who knows everything else', () => {
    const seal = names.sealsOf('auction-1')(hashOf('mia'));
    expect(['mia', 'max', 'moe'].map(hashOf)).not.toContain(seal);
    expect(seal).not.toBe(new AuditNames(Buffer.alloc(32, 8)).sealsOf('auction-1')(hashOf('mia')));
    expect(seal).not.toBe(names.sealsOf('auction-2')(hashOf('mia')));
  });

  it('can be recomputed from record and key', () => {
    const seal = names.sealsOf('auction-1')(hashOf('mia'));
    expect(new AuditNames(KEY).sealsOf('auction-1')(hashOf('mia'))).toBe(seal);
    expect(names.sealsOf('auction-1')(hashOf('max'))).not.toBe(seal);
  });
});
