import type { Pool } from 'pg';
import { readMarket } from '../rules/event-codec.js';
import type { FoldedMarket } from '../rules/markets.js';
import { PROVIDERS, type Provider } from '../rules/providers.js';

export interface FoundMarket {
  readonly marketNo: number;
  readonly state: FoldedMarket;
  /** Set if the market was found by a token id. */
  readonly outcomeIndex?: number;
}

interface FoundRow {
  readonly id: string;
  readonly kind: string;
  readonly outcome_index: number | null;
  readonly market_no: number;
  readonly state: unknown;
}

/** In order of priority: an id that fits several kinds names the first. */
const IDS = ['market', 'condition', 'token'];
const IDS_AND_TICKERS = [...IDS, 'ticker'];

export const FIND_MARKETS = `
  select distinct on (named.id) named.id, named.kind, named.outcome_index, market.market_no, market.state
  from data.market_ids named join data.markets market on market.market_no = named.market_no
  where named.provider = $1 and named.id = any ($2::text[]) and named.kind = any ($3::text[])
  order by named.id, array_position($3::text[], named.kind), market.market_id, named.outcome_index`;

export const MARKETS_OF_EVENT = `
  select market_no, state from data.markets
  where provider = $1 and event_id = $2::text collate "C" order by market_id`;

/** Finds markets by their ids. */
export class MarketReader {
  constructor(private readonly pool: Pool) {}

  /** By id as in the request; unknown ids have no entry. If several markets share an id, the first by market id is taken. */
  async find(
    provider: Provider,
    ids: readonly string[],
    options: { readonly tickers?: true } = {},
  ): Promise<ReadonlyMap<string, FoundMarket>> {
    const wanted = [...new Set(ids)].filter(isStorable);
    if (wanted.length === 0) return new Map();
    const { rows } = await this.pool.query<FoundRow>({
      name: 'data-find-markets',
      text: FIND_MARKETS,
      values: [PROVIDERS.indexOf(provider), wanted, options.tickers === true ? IDS_AND_TICKERS : IDS],
    });
    return new Map(rows.map((row) => [row.id, foundOf(row)]));
  }

  /** All markets of an event in any status, by market id. */
  async ofEvent(provider: Provider, eventId: string): Promise<FoundMarket[]> {
    const { rows } = await this.pool.query<Pick<FoundRow, 'market_no' | 'state'>>({
      name: 'data-markets-of-event',
      text: MARKETS_OF_EVENT,
      values: [PROVIDERS.indexOf(provider), eventId],
    });
    return rows.map(({ market_no, state }) => ({ marketNo: market_no, state: readMarket(state) }));
  }
}

function foundOf({ kind, outcome_index, market_no, state }: FoundRow): FoundMarket {
  const market = { marketNo: market_no, state: readMarket(state) };
  return kind === 'token' && outcome_index !== null ? { ...market, outcomeIndex: outcome_index } : market;
}

/** A text that PostgreSQL cannot store is not the id of any market. */
export function isStorable(id: string): boolean {
  return id.isWellFormed() && !id.includes('\0');
}
