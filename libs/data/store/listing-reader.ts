import type { Pool } from 'pg';
import { readMarket } from '../rules/event-codec.js';
import { PROVIDERS, type Provider } from '../rules/providers.js';
import type { StoredMarket } from './market-table.js';

interface ListingRow {
  readonly market_no: number;
  readonly state: unknown;
}

/** Reads all markets of a provider in any status, by market id. */
export class ListingReader {
  constructor(private readonly pool: Pool) {}

  /** `after` is the number of the last market on the previous page. */
  async page(provider: Provider, after: number | undefined, limit: number): Promise<StoredMarket[]> {
    const { rows } = await this.pool.query<ListingRow>({
      name: 'data-listing-page',
      text: `
        select market_no, state from data.markets
        where provider = $1 and market_id > coalesce((select market_id from data.markets where market_no = $2), '')
        order by market_id limit $3`,
      values: [PROVIDERS.indexOf(provider), after ?? null, limit],
    });
    return rows.map(({ market_no, state }) => ({ marketNo: market_no, state: readMarket(state) }));
  }
}
