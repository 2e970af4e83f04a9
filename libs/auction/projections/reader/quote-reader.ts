import type { Pool } from 'pg';
import { type Instant, instantFromNanos } from '#libs/base/instant.js';
import { BEFORE_ALL, storedInstant } from '../tables/answers.js';

export interface QuoteMark {
  /** `submitted_at` of the quote after which the page begins. */
  readonly s: Instant;
  readonly i: string;
}

export type ListedQuote = readonly [submittedAt: Instant, quoteId: string, status: string, view: string];

interface StoredRow {
  readonly submitted_at: string;
  readonly quote_id: string;
  readonly status: string;
  readonly view: string;
}

const COLUMNS = 'submitted_at::text, quote_id, status, view';
const NEWEST_FIRST = 'order by quote.submitted_at desc, quote.quote_id desc limit $4';

export const ALL = `
  select ${COLUMNS} from auction_history.quotes quote
  where account_id = $1 and (submitted_at, quote_id) < ($2::bigint, $3::uuid) ${NEWEST_FIRST}`;

export const OF_STATUS = `
  select ${COLUMNS} from auction_history.quotes quote
  where account_id = $1 and (submitted_at, quote_id) < ($2::bigint, $3::uuid) and status = $5 ${NEWEST_FIRST}`;

export const OWNS = `
  select from auction_history.quotes where quote_id = $1 and auction_id = $2 and account_id = $3`;

export class QuoteReader {
  constructor(private readonly pool: Pool) {}

  async page(
    account: string,
    status: string | undefined,
    limit: number,
    before?: QuoteMark,
  ): Promise<ListedQuote[]> {
    const cursor = before === undefined ? BEFORE_ALL : { at: storedInstant(before.s), id: before.i };
    const values = [account, cursor.at, cursor.id, limit];
    const { rows } = await this.pool.query<StoredRow>(
      status === undefined
        ? { name: 'quotes-page', text: ALL, values }
        : { name: 'quotes-page-of-status', text: OF_STATUS, values: [...values, status] },
    );
    return rows.map((row) => [
      instantFromNanos(BigInt(row.submitted_at)),
      row.quote_id,
      row.status,
      row.view,
    ]);
  }

  async owns(auctionId: string, quoteId: string, account: string): Promise<boolean> {
    const values = [quoteId, auctionId, account];
    const { rowCount } = await this.pool.query({ name: 'quotes-owner', text: OWNS, values });
    return rowCount === 1;
  }
}
