import { Injectable } from '@nestjs/common';
import type { Reply } from '#libs/edge/reply/reply.js';
import { CompletedReader } from '../../projections/completed-reader.js';
import { PROJECTION_UNAVAILABLE } from '../auctions/completed-reads.js';
import { OwnerRouter, passOn } from '../owner-router.js';
import { quoteCursor } from './quote-endpoints.js';

/** `[submitted_at, quote_id, status, view as JSON text]` */
type Row = readonly [string, string, string, string];

interface PageQuery {
  readonly status: string | undefined;
  readonly limit: number;
  readonly cursor: { readonly s: string; readonly i: string } | undefined;
}

/**
 * All quotes of an account, from the projection. Where the projection lags, the owners' rows replace its rows: the
 * owners are asked first, and return every quote in auctions that the projection has not caught up with.
 */
@Injectable()
export class QuotePages {
  constructor(
    private readonly owners: OwnerRouter,
    private readonly reader: CompletedReader,
  ) {}

  async page(account: string, requestId: string, query: PageQuery): Promise<Reply> {
    const replies = await this.owners.askAll({ op: 'my_quotes', account, request_id: requestId });
    if ('status' in replies) return passOn(replies);
    const fresh = replies.flatMap(({ body }) => JSON.parse(body) as Row[]);
    const replaced = new Set(fresh.map(([, id]) => id));
    try {
      const limit = query.limit + 1;
      const projected = await this.reader.quotes(account, query.status, limit + replaced.size, query.cursor);
      const remaining = projected.filter(([, id]) => !replaced.has(id));
      const rows = [...fresh.filter((row) => isWanted(row, query)), ...remaining].sort(newestFirst);
      return pageOf(rows, query.limit);
    } catch {
      return PROJECTION_UNAVAILABLE;
    }
  }
}

function isWanted([submittedAt, id, status]: Row, { status: wanted, cursor }: PageQuery): boolean {
  if (wanted !== undefined && status !== wanted) return false;
  if (cursor === undefined) return true;
  return submittedAt < cursor.s || (submittedAt === cursor.s && id < cursor.i);
}

function newestFirst(a: Row, b: Row): number {
  if (a[0] !== b[0]) return a[0] > b[0] ? -1 : 1;
  return a[1] > b[1] ? -1 : 1;
}

function pageOf(rows: readonly Row[], limit: number): Reply {
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  const quotes = page.map(([, , , view]) => view).join(',');
  if (last === undefined || rows.length <= limit) return { status: 200, body: `{"quotes":[${quotes}]}` };
  const next = JSON.stringify(quoteCursor.encode({ s: last[0], i: last[1] }));
  return { status: 200, body: `{"quotes":[${quotes}],"next_cursor":${next}}` };
}
