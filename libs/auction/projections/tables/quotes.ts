import type { ClientBase } from 'pg';
import { quoteView } from '../../rules/told/quote-view.js';
import type { AuctionState, Quote } from '../../rules/state.js';
import type { SchemaOf } from '#libs/projecting/projection.js';
import { instants, texts } from './completed-auctions.js';

export interface ChangedQuote {
  readonly quote: Quote;
  readonly state: AuctionState;
}

/** Every quote as its maker sees it, of live auctions too. */
export class QuotesTable {
  private readonly table: string;

  constructor(schemaOf: SchemaOf) {
    this.table = `${schemaOf('auction_history')}.quotes`;
  }

  async put(client: ClientBase, quotes: readonly ChangedQuote[]): Promise<void> {
    if (quotes.length === 0) return;
    await client.query({
      name: `${this.table}-put`,
      text: `
        insert into ${this.table} (quote_id, auction_id, account_id, submitted_at, status, view)
        select quote_id::uuid, auction_id::uuid, account_id::uuid, submitted_at, status, view
        from unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::text[], $6::text[])
          as row (quote_id, auction_id, account_id, submitted_at, status, view)
        on conflict (quote_id) do update
          set submitted_at = excluded.submitted_at, status = excluded.status, view = excluded.view`,
      values: [
        texts(quotes.map(({ quote }) => quote.quote_id)),
        texts(quotes.map(({ state }) => state.terms.auction_id)),
        texts(quotes.map(({ quote }) => quote.maker)),
        instants(quotes.map(({ quote }) => quote.submitted_at)),
        texts(quotes.map(({ quote }) => quote.status)),
        texts(quotes.map(({ quote, state }) => JSON.stringify(quoteView(state, quote)))),
      ],
    });
  }
}
