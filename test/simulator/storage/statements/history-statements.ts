import { keyOf } from '../tables.js';
import { changed, required, rowsFrom, rowsOf, type Statements } from '../statement.js';

/** What owners write and read of the auctions that they have forgotten. */
export const historyStatements: Statements = {
  'histories-keep': {
    locks: ([, ids]) => (ids as readonly string[]).map((id) => keyOf('history', id)),
    run: ({ tables, tx }, [shard, ...columns]) => {
      for (const [id, positions] of rowsFrom(...columns)) {
        const row = { auction_id: required(id), shard: Number(shard), positions: required(positions) };
        if (tx.get(tables.histories, row.auction_id) === undefined)
          tx.put(tables.histories, row.auction_id, row);
      }
      return changed((columns[0] as readonly string[]).length);
    },
  },
  'histories-find': {
    run: ({ tables, tx }, [shard, ids]) =>
      rowsOf(
        (ids as readonly string[]).flatMap((id) => {
          const row = tx.get(tables.histories, id);
          return row === undefined || row.shard !== shard ? [] : [row];
        }),
      ),
  },
};
