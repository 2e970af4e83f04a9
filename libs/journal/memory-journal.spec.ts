import { describeJournal } from '#libs/testing/contracts/journal.contract.js';
import { describeSnapshotStore } from '#libs/testing/contracts/snapshot-store.contract.js';
import { MemoryJournal, MemoryJournalStore } from '#libs/testing/journals/memory-journal.js';
import { MemorySnapshotStore } from '#libs/testing/journals/memory-snapshots.js';

describeJournal('the journal in memory', () => {
  const store = new MemoryJournalStore();
  const other = new MemoryJournalStore('execution');
  return Promise.resolve({
    journalOf: (opener) => new MemoryJournal(store, opener),
    reader: store,
    faults: {
      loseAnswer: (shard) => store.loseNext(shard, 'written'),
      loseAppend: (shard) => store.loseNext(shard, 'not written'),
      isolate: (shard) => store.loseNext(shard, 'not written'),
      cut: (shard) => store.loseNext(shard, shard % 2 === 0 ? 'written' : 'not written'),
      heal: () => undefined,
    },
    tamper: (shard, sequence, tampering) => {
      const stored = store.shard(shard);
      stored.records = stored.records.flatMap((record) => {
        if (record.sequence !== sequence) return [record];
        return tampering === 'removed' ? [] : [{ ...record, ...tampering }];
      });
      stored.records.sort((a, b) => a.sequence - b.sequence);
      return Promise.resolve();
    },
    other: { journal: new MemoryJournal(other, 'ada'), reader: other },
    giveToOther: (shard) => {
      other.shard(shard).records = [...store.shard(shard).records];
      return Promise.resolve();
    },
    dispose: () => Promise.resolve(),
  });
});

describeSnapshotStore('snapshots in memory', () => {
  const store = new MemoryJournalStore();
  return Promise.resolve({
    store: new MemorySnapshotStore(),
    other: new MemorySnapshotStore(),
    journal: new MemoryJournal(store),
    reader: store,
  });
});
