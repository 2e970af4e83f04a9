import type { Pool } from 'pg';
import type { MarketResolution } from '../rules/markets.js';
import { PROVIDERS, type Provider } from '../rules/providers.js';

export interface StoredResolution extends MarketResolution {
  readonly marketNo: number;
  readonly market_id: string;
}

/** Where the next page begins. */
export interface ResolutionPlace {
  readonly resolved_at: number;
  readonly marketNo: number;
}

export interface ResolutionQuery {
  /** Limits the result to these markets. */
  readonly marketNos?: readonly number[] | undefined;
  /** Resolved at or after this time, oldest first. Without it, newest first. */
  readonly since?: number | undefined;
  readonly after?: ResolutionPlace | undefined;
  readonly limit: number;
}

interface ResolutionDbRow extends Omit<StoredResolution, 'marketNo'> {
  readonly market_no: number;
}

/** Reads the payouts of markets that are resolved or settled now. */
export class ResolutionReader {
  constructor(private readonly pool: Pool) {}

  async page(
    provider: Provider,
    { marketNos, since, after, limit }: ResolutionQuery,
  ): Promise<StoredResolution[]> {
    const [beyond, order] = since === undefined ? ['<', 'desc'] : ['>', 'asc'];
    const { rows } = await this.pool.query<ResolutionDbRow>(
      `select resolution.market_no, market.market_id, resolution.status, payouts, outcome_index, resolved_at, settled_at,
         source_url, disputed
       from data.resolutions resolution join data.markets market using (market_no)
       where resolution.provider = $1 and market.status in ('resolved', 'settled')
         and ($2::bigint[] is null or market_no = any ($2::bigint[]))
         and ($3::bigint is null or resolved_at >= $3::bigint)
         and ($4::bigint is null or (resolved_at, market_no) ${beyond} ($4::bigint, $5::bigint))
       order by resolved_at ${order}, market_no ${order} limit $6`,
      [
        ...[PROVIDERS.indexOf(provider), marketNos ?? null, since ?? null],
        ...[after?.resolved_at ?? null, after?.marketNo ?? null, limit],
      ],
    );
    return rows.map(({ market_no, ...row }) => ({ marketNo: market_no, ...row }));
  }
}
