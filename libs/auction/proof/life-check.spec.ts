import { describe, expect, it } from '@jest/globals';
import { beforeFirst, linkEpoch } from '#libs/journal/hash-chain.js';
import type { EpochIncarnation, JournalEntry, JournalHead } from '#libs/journal/journal.js';
import { LifeCheck, type LifeChecks } from './life-check.js';

const BARE: LifeChecks = { own: undefined, known: 0 };

function faultsOf(incarnations: readonly EpochIncarnation[], checks = BARE): readonly string[] {
  const check = new LifeCheck(checks);
  let head: JournalHead = beforeFirst('auction');
  const entries = incarnations.map((life, index): JournalEntry => {
    const entry = linkEpoch(0, head, index + 1, 'ada', life);
    head = entry;
    return entry;
  });
  check.take(entries);
  check.end();
  return check.faults;
}

describe('the database incarnations that a journal was written for', () => {
  it('may be one, or none, or replace each other', () => {
    expect(faultsOf([{}, { life: 'a' }, { life: 'a' }, {}, { life: 'a' }, {}])).toEqual([]);
    expect(faultsOf([{ life: 'a' }, { life: 'b', follows: 'a' }, { life: 'c', follows: 'b' }])).toEqual([]);
    expect(faultsOf([{ life: 'a' }, {}, { life: 'b' }])).toEqual([]);
  });

  it('are reported if one takes over without replacing the one before', () => {
    expect(faultsOf([{ life: 'a' }, { life: 'b' }])).toEqual([
      expect.stringMatching(/^record 2 takes it over for another database \(life b\) than before \(life a\)/),
    ]);
    expect(faultsOf([{ life: 'a' }, { life: 'c' }, { life: 'b', follows: 'a' }])).toHaveLength(2);
  });

  it('are reported if a replaced one returns', () => {
    const turns = [{ life: 'a' }, { life: 'b', follows: 'a' }, { life: 'a', follows: 'b' }];
    expect(faultsOf(turns)).toEqual([expect.stringMatching(/^record 3 .*taken turns/)]);
  });

  it('are reported for a database that lacks what was written for another since', () => {
    const incarnations = [{ life: 'a' }, { life: 'a' }, { life: 'b', follows: 'a' }];
    expect(faultsOf(incarnations, { own: 'a', known: 2 })).toEqual([
      expect.stringMatching(
        /^from record 3 on it is written for another database \(life b\).* record 2 alone/,
      ),
    ]);
    expect(faultsOf(incarnations, { own: 'b', known: 3 })).toEqual([]);
    // Restored, and not started yet.
    expect(faultsOf(incarnations, { own: 'c', known: 3 })).toEqual([]);
  });
});
