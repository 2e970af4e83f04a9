import { keyOf } from '../tables.js';
import { changed, rowsOf, type Statements } from '../statement.js';

/** The key of a journal's row. */
function keyOfJournal(family: unknown, shard: unknown): string {
  return `${String(family)} ${String(shard)}`;
}

/** External checkpoints: what owners write to the database about their topics, and read back. */
export const witnessStatements: Statements = {
  "select epoch, sequence, encode(hash, 'hex') as hash, log_offset as offset from journal.witness": {
    run: ({ tables, tx }, [family, shard]) => {
      const row = tx.get(tables.witness, keyOfJournal(family, shard));
      return rowsOf(row === undefined ? [] : [row]);
    },
  },
  'insert into journal.witness as known': {
    locks: ([family, shard]) => [keyOf('witness', keyOfJournal(family, shard))],
    run: ({ tables, tx }, [family, shard, sequence, hash, epoch, offset]) => {
      const key = keyOfJournal(family, shard);
      const known = tx.get(tables.witness, key);
      if (known !== undefined && known.sequence >= Number(sequence)) return changed(0);
      tx.put(tables.witness, key, {
        epoch: Number(epoch),
        sequence: Number(sequence),
        hash: String(hash),
        offset: Number(offset),
      });
      return changed(1);
    },
  },
};
