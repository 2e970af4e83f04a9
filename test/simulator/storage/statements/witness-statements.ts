import { keyOf } from '../tables.js';
import { changed, rowsOf, type Statements } from '../statement.js';

/** What owners tell the database of their topics, and ask it. */
export const witnessStatements: Statements = {
  "select epoch, sequence, encode(hash, 'hex') as hash, log_offset as offset from journal.witness": {
    run: ({ tables, tx }, [shard]) => {
      const row = tx.get(tables.witness, String(shard));
      return rowsOf(row === undefined ? [] : [row]);
    },
  },
  'insert into journal.witness as known': {
    locks: ([shard]) => [keyOf('witness', String(shard))],
    run: ({ tables, tx }, [shard, sequence, hash, epoch, offset]) => {
      const known = tx.get(tables.witness, String(shard));
      if (known !== undefined && known.sequence >= Number(sequence)) return changed(0);
      tx.put(tables.witness, String(shard), {
        epoch: Number(epoch),
        sequence: Number(sequence),
        hash: String(hash),
        offset: Number(offset),
      });
      return changed(1);
    },
  },
};
