import type { Pool } from 'pg';
import { integer } from '#libs/edge/decoding/decode-scalars.js';
import { object } from '#libs/edge/decoding/decode.js';
import { Endpoint } from '#libs/edge/endpoint-decorator.js';
import type { CallOf } from '#libs/edge/endpoint.js';
import type { Reply } from '#libs/edge/reply/reply.js';
import type { OnFault } from '#libs/platform/process/log.js';
import type { Clock } from '#libs/platform/time/clock.js';
import { ListingReader } from '../../store/listing-reader.js';
import { MarketReader } from '../../store/market-reader.js';
import type { StoredMarket } from '../../store/market-table.js';
import { PriceReader } from '../../store/price-reader.js';
import { ResolutionReader } from '../../store/resolution-reader.js';
import type { SnapshotReader } from '../../store/snapshot-reader.js';
import type { SealedCursors } from '../cursors.js';
import { ActivePages } from '../markets/active-pages.js';
import { microsNow } from '../moments.js';
import { dataReply } from '../replies.js';
import { companionMarkets, companionResolutions, companionSynthetics } from './companion-endpoints.js';
import { complementRow, listedMarketRow, resolutionRow } from './contract-rows.js';

export interface CompanionListPorts {
  readonly pool: Pool;
  readonly snapshots: SnapshotReader;
  readonly cursors: SealedCursors;
  readonly clock: Pick<Clock, 'epochNanos'>;
  readonly onFault: OnFault;
}

const LISTING_POSITION = object({ required: { after: integer(0) } });
const RESOLUTION_POSITION = object({
  required: { resolved_at: integer(Number.MIN_SAFE_INTEGER), marketNo: integer(0) },
});

/** The paged lists of the companion. */
export class CompanionListsController {
  private readonly markets: MarketReader;
  private readonly prices: PriceReader;
  private readonly listings: ListingReader;
  private readonly resolutions: ResolutionReader;
  private readonly pages: ActivePages;

  constructor(private readonly ports: CompanionListPorts) {
    const { pool, snapshots, cursors, onFault } = ports;
    this.markets = new MarketReader(pool);
    this.prices = new PriceReader(pool);
    this.listings = new ListingReader(pool);
    this.resolutions = new ResolutionReader(pool);
    this.pages = new ActivePages(snapshots, cursors, onFault);
  }

  @Endpoint(companionMarkets)
  async listMarkets({ query }: CallOf<typeof companionMarkets>): Promise<Reply> {
    const { provider, limit, cursor } = query;
    const pageQuery = { route: companionMarkets.path, provider, limit, cursor };
    const page = await this.pages.page(pageQuery, microsNow(this.ports.clock));
    const markets = page.markets.map(({ state }) => listedMarketRow(state));
    const { next_cursor } = page;
    const counted = { count: markets.length, next_cursor, has_more: next_cursor !== null };
    return dataReply({ exchange_id: provider, markets, ...counted }, { providers: [provider] });
  }

  @Endpoint(companionSynthetics)
  async listSynthetics({ query }: CallOf<typeof companionSynthetics>): Promise<Reply> {
    const { provider, underlying, limit, cursor } = query;
    const { cursors, clock } = this.ports;
    const filters = { provider, underlying };
    const position =
      cursor === undefined
        ? undefined
        : cursors.open(companionSynthetics.path, filters, cursor, LISTING_POSITION);
    const legs = await this.legs(query, position?.after, limit + 1);
    const shown = legs.slice(0, limit);
    const prices = await this.prices.of(provider, shown, microsNow(clock));
    const synthetics = shown.map(({ marketNo, state }) => complementRow(state, prices.get(marketNo)?.[0]));
    const last = legs.length > limit ? shown.at(-1) : undefined;
    const next_cursor =
      last === undefined ? null : cursors.seal(companionSynthetics.path, filters, { after: last.marketNo });
    return dataReply({ synthetics, next_cursor }, { providers: [provider] });
  }

  /** A page of the markets that have a complement, after the market with that number. */
  private async legs(
    { provider, underlying }: CallOf<typeof companionSynthetics>['query'],
    after: number | undefined,
    limit: number,
  ): Promise<readonly StoredMarket[]> {
    if (provider !== 'venue_b') return [];
    if (underlying === undefined) return this.listings.page(provider, after, limit);
    const found = (await this.markets.find(provider, [underlying])).get(underlying);
    return found === undefined ? [] : [found];
  }

  @Endpoint(companionResolutions)
  async listResolutions({ query }: CallOf<typeof companionResolutions>): Promise<Reply> {
    const { provider, contract_id: ids, since, limit, cursor } = query;
    const { cursors } = this.ports;
    const filters = { provider, contract_id: ids, since };
    const { path } = companionResolutions;
    const after = cursor === undefined ? undefined : cursors.open(path, filters, cursor, RESOLUTION_POSITION);
    const requested = ids.length === 0 ? undefined : await this.requested(query);
    const pageQuery = { marketNos: requested && [...requested.keys()], since, after, limit: limit + 1 };
    const found = await this.resolutions.page(provider, pageQuery);
    const shown = found.slice(0, limit);
    const last = found.length > limit ? shown.at(-1) : undefined;
    const body = {
      resolutions: shown.map((each) => resolutionRow(requested?.get(each.marketNo) ?? each.market_id, each)),
      next_cursor:
        last === undefined
          ? null
          : cursors.seal(path, filters, { resolved_at: last.resolved_at, marketNo: last.marketNo }),
    };
    return dataReply(body, { providers: [provider] });
  }

  /** Maps the number of each market to the first id in the request that names it. */
  private async requested({
    provider,
    contract_id: ids,
  }: CallOf<typeof companionResolutions>['query']): Promise<ReadonlyMap<number, string>> {
    const found = await this.markets.find(provider, ids);
    const requested = new Map<number, string>();
    for (const id of ids) {
      const market = found.get(id);
      if (market !== undefined && !requested.has(market.marketNo)) requested.set(market.marketNo, id);
    }
    return requested;
  }
}
