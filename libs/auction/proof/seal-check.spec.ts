import { describe, expect, it } from '@jest/globals';
import { beforeFirst, linkEpoch, linkEvent } from '#libs/journal/hash-chain.js';
import type { JournalEntry } from '#libs/journal/journal.js';
import { RecordMacs } from '#libs/journal/seals/record-macs.js';
import { SealCheck, type SealsFound } from './seal-check.js';

const SHARD = 0;
const [OLD, NEW] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];

interface Checked extends SealsFound {
  readonly faults: readonly string[];
}

/**
 * `e` is an epoch record, `.` an event without a seal, `o` and `n` are events sealed with the old and the new key, `O` and `N`
 * such epoch records.
 */
function journalOf(pattern: string): JournalEntry[] {
  const entries: JournalEntry[] = [];
  for (const letter of pattern) {
    const before = entries.at(-1) ?? beforeFirst('auction');
    const isEpoch = /[eON]/.test(letter);
    const entry = isEpoch
      ? linkEpoch(SHARD, before, before.epoch + 1, 'ada')
      : linkEvent(SHARD, before, `"${entries.length}"`);
    const key = /[oO]/.test(letter) ? OLD : /[nN]/.test(letter) ? NEW : undefined;
    entries.push(
      key === undefined ? entry : { ...entry, seal: new RecordMacs('auction', [key]).sealOf(entry) },
    );
  }
  return entries;
}

function checked(pattern: string, sealedFrom: number | undefined, ...keys: Buffer[]): Checked {
  const [first, ...former] = keys;
  const seals = first === undefined ? undefined : new RecordMacs('auction', [first, ...former]);
  const check = new SealCheck({ seals, sealedFrom });
  const entries = journalOf(pattern);
  check.take(entries.slice(0, 2));
  check.take(entries.slice(2));
  check.end();
  return { ...check.told, faults: check.faults };
}

describe('the seals of a journal', () => {
  it.each<[string, number | undefined, Buffer[], number, number | null]>([
    ['O..o.oO', 1, [OLD], 4, 0],
    ['e..e.O.oO.o', 6, [OLD], 4, 0],
    ['e..', undefined, [OLD], 0, 0],
    ['O.oN.nN', 1, [NEW, OLD], 5, 0],
    ['O.oN.nN', 1, [NEW], 5, 2],
    ['O.oN.nN', 1, [], 5, null],
    ['', undefined, [OLD], 0, 0],
    ['O.o.e.N.n', undefined, [NEW, OLD], 4, 0],
  ])('are right: %s, sealed from %p on', (pattern, sealedFrom, keys, found, former) => {
    const last = found === 0 ? null : pattern.length;
    const sealed = { sealed_from: sealedFrom ?? null, found, last_sealed: last, by_former_keys: former };
    expect(checked(pattern, sealedFrom, ...keys)).toEqual({ ...sealed, faults: [] });
  });

  it('are counted up to the last one made by a given key', () => {
    expect(checked('O.o.', 1, OLD).last_sealed).toBe(3);
    expect(checked('O.o.n', 1, OLD).last_sealed).toBe(3);
    expect(checked('O.o.n', 1).last_sealed).toBe(5);
  });

  it.each<[string, number | undefined, Buffer[], string]>([
    ['O.o.', undefined, [OLD], 'record 4 ends an append and has no seal'],
    ['O.oe', undefined, [OLD], 'record 4 ends an append and has no seal'],
    ['O.o.', 1, [OLD], 'record 4 ends an append and has no seal'],
    ['O.o.', 1, [], 'record 4 ends an append and has no seal'],
    ['O.oe', 1, [OLD], 'record 4 ends an append and has no seal'],
    ['O.oeO', 1, [OLD], 'record 4 ends an append and has no seal'],
    ['O..N.n', 1, [NEW, OLD], 'record 3 ends an append and has no seal'],
    ['O.oN.oN', 1, [NEW], 'the seal of record 6 was made with no key of ID_KEY'],
    ['O.oO.n', 1, [OLD], 'the seal of record 6 was made with no key of ID_KEY'],
    ['O.o', 1, [NEW], 'no key of ID_KEY has made any of its 2 seals'],
    ['O.o', 4, [OLD], 'it ends at 3, but is known to be sealed from 4 on'],
  ])('are wrong: %s, sealed from %p on', (pattern, sealedFrom, keys, fault) => {
    expect(checked(pattern, sealedFrom, ...keys).faults).toEqual([expect.stringContaining(fault)]);
  });
});
