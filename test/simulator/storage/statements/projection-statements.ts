import { keyOf } from '../tables.js';
import { changed, required, rowsFrom, rowsOf, type Context, type Statements } from '../statement.js';

/** What the projector writes. Its transactions lock the row of their shard's position. */
export const projectionStatements: Statements = {
  'auction_history.projection_offsets-lock': {
    locks: ([shard]) => [keyOf('positions', String(shard))],
    run: ({ tables, tx }, [shard]) => {
      const row = tx.get(tables.positions, String(shard));
      return rowsOf(row === undefined ? [] : [row]);
    },
  },
  'insert into auction_history.projection_offsets': {
    locks: ([shard]) => [keyOf('positions', String(shard))],
    run: (context, values) => {
      const { tables, tx } = context;
      if (tx.get(tables.positions, String(values[0])) !== undefined) return changed(0);
      return move(context, values);
    },
  },
  'auction_history.projection_offsets-move': { run: (context, values) => move(context, values) },
  'auction_history.events-insert': {
    run: ({ tables, tx }, [, ids, sequences, , , , keys, , payloads]) => {
      for (const [id, sequence, key = null, payload] of rowsFrom(ids, sequences, keys, payloads)) {
        const auctionId = required(id);
        const known = tx.get(tables.events, auctionId) ?? [];
        const row = {
          auction_id: auctionId,
          sequence: Number(sequence),
          command_key: key,
          payload: required(payload),
        };
        if (known.some((other) => other.sequence === row.sequence))
          throw new Error('duplicate key in auction_history.events');
        tx.put(
          tables.events,
          auctionId,
          [...known, row].sort((a, b) => a.sequence - b.sequence),
        );
      }
      return changed(1);
    },
  },
  'auction_history.quotes-put': {
    run: ({ tables, tx }, columns) => {
      for (const [quoteId, auctionId, account, submitted, status, view] of rowsFrom(...columns)) {
        tx.put(tables.quotes, required(quoteId), {
          quote_id: required(quoteId),
          auction_id: required(auctionId),
          account_id: required(account),
          submitted_at: required(submitted),
          status: required(status),
          view: required(view),
        });
      }
      return changed(1);
    },
  },
  'completed.auctions-put': {
    run: ({ tables, tx }, [, ...columns]) => {
      for (const [id, opened, completed = null, sequence, events, status, state] of rowsFrom(...columns)) {
        tx.put(tables.completed, required(id), {
          auction_id: required(id),
          opened_at: required(opened),
          completed_at: completed,
          sequence: Number(sequence),
          events: Number(events),
          status: required(status),
          state: required(state),
        });
      }
      return changed(1);
    },
  },
  'completed.viewers-admit': {
    run: ({ tables, tx }, [shard, ...columns]) => {
      for (const [viewer, id, opened, , role, sequence] of rowsFrom(...columns)) {
        const key = keyOf(required(viewer), required(id));
        if (tx.get(tables.viewers, key) !== undefined) throw new Error('duplicate key in completed.viewers');
        const row = {
          viewer_id: required(viewer),
          auction_id: required(id),
          opened_at: required(opened),
          shard: Number(shard),
          sequence: Number(sequence),
        };
        tx.put(tables.viewers, key, { ...row, is_originator: role === 'ORIGINATOR' });
      }
      return changed(1);
    },
  },
  'auction_history.answers-put': {
    run: ({ tables, tx }, [shard, accounts, sequences, , ...columns]) => {
      for (const row of rowsFrom(accounts, sequences, ...columns)) {
        const [account, sequence, status, operation, key, content, body] = row;
        const name = [required(account), required(operation), required(key)] as const;
        tx.put(tables.answers, keyOf(...name, Number(shard)), {
          account_id: name[0],
          operation: name[1],
          key: name[2],
          shard: Number(shard),
          sequence: Number(sequence),
          content: required(content),
          status: Number(status),
          body: required(body),
        });
      }
      return changed(1);
    },
  },
  'select auction_id, sequence, payload from auction_history.events': {
    run: ({ tables, tx }, [ids]) =>
      rowsOf([...(ids as readonly string[])].sort().flatMap((id) => tx.get(tables.events, id) ?? [])),
  },
  "select shard, sequence, encode(hash, 'hex') as hash from auction_history.projection_offsets": {
    run: ({ tables, tx }) => rowsOf([...tx.all(tables.positions)].map(([, row]) => row)),
  },
};

function move({ tables, tx }: Context, [shard, epoch, sequence, hash]: readonly unknown[]) {
  const row = {
    shard: Number(shard),
    epoch: Number(epoch),
    sequence: Number(sequence),
    hash: String(hash),
  };
  tx.put(tables.positions, String(shard), row);
  return changed(1);
}
