import { HISTORY_READS } from '#libs/auction/projections/reader/history-store.js';
import { keyOf, type StoredEvent, type QuoteRow } from '../tables.js';
import {
  required,
  rowsFrom,
  rowsOf,
  type StatementAnswer,
  type Context,
  type Statements,
} from '../statement.js';

type Place = readonly [at: string, id: string];

/** Reads of the projections. */
export const readingStatements: Statements = {
  'auction_history.projection_offsets-position': {
    run: ({ tables, tx }, [shard]) => one(tx.get(tables.positions, String(shard))),
  },
  'completed-auction': {
    run: ({ tables, tx }, [id, viewer]) => {
      const isSeen = tx.get(tables.viewers, keyOf(String(viewer), String(id))) !== undefined;
      return one(isSeen ? tx.get(tables.completed, String(id)) : undefined);
    },
  },
  'completed-role': {
    run: ({ tables, tx }, [id, viewer]) => one(tx.get(tables.viewers, keyOf(String(viewer), String(id)))),
  },
  'completed-status': {
    run: ({ tables, tx }, [id]) => {
      const row = tx.get(tables.completed, String(id));
      return one(row?.completed_at === null ? undefined : row);
    },
  },
  'completed-page': {
    run: ({ tables, tx }, [viewer, at, id, limit]) => {
      const own = [...tx.all(tables.viewers)].map(([, row]) => row).filter((row) => row.viewer_id === viewer);
      const page = newestFirst(own, (row) => [row.opened_at, row.auction_id], [String(at), String(id)]);
      const rows = page.flatMap((row) => tx.get(tables.completed, row.auction_id) ?? []);
      return rowsOf(rows.slice(0, Number(limit)));
    },
  },
  'auction-history': {
    run: ({ tables, tx }, [id, upTo]) =>
      rowsOf((tx.get(tables.events, String(id)) ?? []).filter(({ sequence }) => sequence <= Number(upTo))),
  },
  'chronicle-ended': {
    run: ({ tables, tx }, [viewer, shard, from, behind, upTo]) => {
      const rows = [...tx.all(tables.viewers)]
        .map(([, row]) => row)
        .filter((row) => row.viewer_id === viewer && row.shard === shard && row.sequence > Number(from))
        .filter((row) => happened(tx.get(tables.events, row.auction_id), behind, upTo));
      return rowsOf(rows.sort((a, b) => a.sequence - b.sequence).slice(0, HISTORY_READS.auctions));
    },
  },
  'chronicle-touched': {
    run: ({ tables, tx }, [ids, behind, upTo]) =>
      rowsOf(
        (ids as readonly string[])
          .filter((id) => happened(tx.get(tables.events, id), behind, upTo))
          .map((id) => ({ auction_id: id })),
      ),
  },
  'chronicle-parts': {
    run: ({ tables, tx }, [ids, after, upTo]) =>
      rowsOf(
        (ids as readonly string[]).flatMap((id) =>
          (tx.get(tables.events, id) ?? [])
            .filter(({ sequence }) => sequence > Number(after) && sequence <= Number(upTo))
            .slice(0, HISTORY_READS.events),
        ),
      ),
  },
  'answer-by-key': {
    run: ({ tables, tx }, [id, key]) =>
      rowsOf((tx.get(tables.events, String(id)) ?? []).filter((row) => row.command_key === key)),
  },
  'answers-of-creates': {
    run: ({ tables, tx }, columns) =>
      rowsOf(
        rowsFrom(...columns).flatMap(([id, account, key], index) => {
          const made = (tx.get(tables.events, required(id)) ?? []).find((row) => row.command_key === key);
          const refused = [...tx.all(tables.answers)]
            .map(([, row]) => row)
            .find((row) => row.account_id === account && row.operation === 'CREATE' && row.key === key);
          const place = index + 1;
          return [
            ...(made === undefined ? [] : [{ place, ...made }]),
            ...(refused === undefined ? [] : [{ place, payload: null, ...refused }]),
          ];
        }),
      ),
  },
  'answer-of-shard': {
    run: ({ tables, tx }, parts) => one(tx.get(tables.answers, keyOf(...parts.map(String)))),
  },
  'quotes-page': { run: (context, values) => quotePage(context, values) },
  'quotes-page-of-status': { run: (context, values) => quotePage(context, values) },
  'quotes-owner': {
    run: ({ tables, tx }, [quoteId, auctionId, account]) => {
      const row = tx.get(tables.quotes, String(quoteId));
      return one(row?.auction_id === auctionId && row?.account_id === account ? row : undefined);
    },
  },
};

function one(row: object | undefined): StatementAnswer {
  return rowsOf(row === undefined ? [] : [row]);
}

function happened(events: readonly StoredEvent[] | undefined, behind: unknown, upTo: unknown): boolean {
  return events?.some(({ sequence }) => sequence > Number(behind) && sequence <= Number(upTo)) === true;
}

function quotePage(
  { tables, tx }: Context,
  [account, at, id, limit, status]: readonly unknown[],
): StatementAnswer {
  const own = [...tx.all(tables.quotes)]
    .map(([, row]) => row)
    .filter((row) => row.account_id === account && (status === undefined || row.status === status));
  const placeOf = (row: QuoteRow): Place => [row.submitted_at, row.quote_id];
  return rowsOf(newestFirst(own, placeOf, [String(at), String(id)]).slice(0, Number(limit)));
}

function newestFirst<Row>(rows: readonly Row[], placeOf: (row: Row) => Place, before: Place): Row[] {
  return rows
    .filter((row) => isBefore(placeOf(row), before))
    .sort((a, b) => (isBefore(placeOf(a), placeOf(b)) ? 1 : -1));
}

/** Compares numbers given as text, and ids. */
function isBefore([at, id]: Place, [otherAt, otherId]: Place): boolean {
  const [one, other] = [BigInt(at), BigInt(otherAt)];
  return one < other || (one === other && id < otherId);
}
