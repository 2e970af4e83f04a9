import type { ClientBase } from 'pg';
import { quoteView } from '#libs/auction/quote-view.js';
import type { AuctionState, Quote } from '#libs/auction/state.js';
import type { Schemas } from '../schemas.js';
import { storedInstant } from '../stored-instant.js';

export interface ChangedQuote {
  readonly quote: Quote;
  readonly state: AuctionState;
}

/** Every quote as its maker sees it, of live auctions too. */
export class QuotesTable {
  private readonly table: string;

  constructor({ execution }: Schemas) {
    this.table = `${execution}.quotes`;
  }

  async put(client: ClientBase, quotes: readonly ChangedQuote[]): Promise<void> {
    if (quotes.length === 0) return;
    await client.query({
      name: `${this.table}-put`,
      text: `
        insert into ${this.table} (quote_id, auction_id, account_id, submitted_at, status, view)
        select * from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::bigint[], $5::text[], $6::text[])
        on conflict (quote_id) do update
          set submitted_at = excluded.submitted_at, status = excluded.status, view = excluded.view`,
      values: [
        quotes.map(({ quote }) => quote.quote_id),
        quotes.map(({ state }) => state.terms.auction_id),
        quotes.map(({ quote }) => quote.maker),
        quotes.map(({ quote }) => storedInstant(quote.submitted_at)),
        quotes.map(({ quote }) => quote.status),
        quotes.map(({ quote, state }) => JSON.stringify(quoteView(state, quote))),
      ],
    });
  }
}
