import { Endpoint } from '#libs/edge/endpoint-decorator.js';
import type { CallOf } from '#libs/edge/endpoint.js';
import type { Reply } from '#libs/edge/reply/reply.js';
import type { OnFault } from '#libs/platform/process/log.js';
import type { Clock } from '#libs/platform/time/clock.js';
import { activeFlag, isSetTo } from '../../rules/flags.js';
import type { Provider } from '../../rules/providers.js';
import type { MarketReader } from '../../store/market-reader.js';
import type { PriceReader } from '../../store/price-reader.js';
import type { SnapshotReader } from '../../store/snapshot-reader.js';
import type { VolumeReader } from '../../store/volume-reader.js';
import type { SealedCursors } from '../cursors.js';
import type { KnownFlags } from '../flags/known-flags.js';
import { microsNow } from '../moments.js';
import { unknownProvider } from '../refusals.js';
import { dataReply } from '../replies.js';
import { ActivePages } from './active-pages.js';
import { MarketBatches } from './market-batches.js';
import * as endpoints from './market-endpoints.js';
import { activeRow } from './market-facts.js';
import { MarketMetadata } from './market-metadata.js';
import { MarketOutcomes } from './market-outcomes.js';
import type { LiveMarkets } from './metadata-reads.js';
import type { ProviderAsSent } from './provider-kinds.js';

export interface MarketsPorts {
  readonly markets: MarketReader;
  readonly prices: PriceReader;
  readonly volumes: VolumeReader;
  readonly snapshots: SnapshotReader;
  readonly cursors: SealedCursors;
  readonly flags: Pick<KnownFlags, 'lastKnown'>;
  readonly live: LiveMarkets;
  /** The base URL of the companion listener. */
  readonly companionUrl: () => string;
  readonly clock: Clock;
  readonly onFault: OnFault;
}

const MINUTE = 'private, max-age=60';
const SECONDS = 'private, max-age=5';
const USUAL_PROVIDER: ProviderAsSent = { provider: 'venue_a', raw: 'venue_a' };
const GONE = 'Tick sizes have moved to the companion service';

/** Routes about markets, their prices and metadata. */
export class MarketsController {
  private readonly pages: ActivePages;
  private readonly batches: MarketBatches;
  private readonly metadata: MarketMetadata;
  private readonly outcomes: MarketOutcomes;

  constructor(private readonly ports: MarketsPorts) {
    this.pages = new ActivePages(ports.snapshots, ports.cursors, ports.onFault);
    this.batches = new MarketBatches(ports);
    this.metadata = new MarketMetadata(ports);
    this.outcomes = new MarketOutcomes(ports);
  }

  @Endpoint(endpoints.activeMarkets)
  async active({ query }: CallOf<typeof endpoints.activeMarkets>): Promise<Reply> {
    const { limit, cursor } = query;
    const provider = await this.offered(query.provider ?? USUAL_PROVIDER);
    const route = endpoints.activeMarkets.path;
    const page = await this.pages.page({ route, provider, limit, cursor }, this.now());
    const { markets, next_cursor } = page;
    const body = {
      ...{ provider, exchange_id: provider, markets: markets.map(({ state }) => activeRow(state)) },
      ...{ count: markets.length, next_cursor, has_more: next_cursor !== null },
      source: 'market_metadata_cache',
    };
    return dataReply(body, { cache: SECONDS, providers: [provider] });
  }

  @Endpoint(endpoints.marketDetails)
  async details({ body }: CallOf<typeof endpoints.marketDetails>): Promise<Reply> {
    const { body: found, providers } = await this.batches.details(body.markets);
    return dataReply(found, { cache: MINUTE, providers });
  }

  @Endpoint(endpoints.batchPrices)
  async prices({ body }: CallOf<typeof endpoints.batchPrices>): Promise<Reply> {
    const { body: prices, providers } = await this.batches.prices(body.markets, this.now());
    return dataReply(prices, { providers });
  }

  @Endpoint(endpoints.marketMetadata)
  async one({ query }: CallOf<typeof endpoints.marketMetadata>): Promise<Reply> {
    const provider = await this.offered(query.provider);
    const { body, providers } = await this.metadata.one({ ticker: query.ticker, provider });
    return dataReply(body, { cache: MINUTE, providers });
  }

  @Endpoint(endpoints.batchMetadata)
  async many({ body }: CallOf<typeof endpoints.batchMetadata>): Promise<Reply> {
    const { body: rows, providers } = await this.metadata.many(body, await this.ports.flags.lastKnown());
    return dataReply(rows, { cache: MINUTE, providers });
  }

  @Endpoint(endpoints.marketOutcomes)
  async ofEvent({ query }: CallOf<typeof endpoints.marketOutcomes>): Promise<Reply> {
    const { market_id, include_closed, provider_id: provider } = query;
    const outcomesQuery = { market_id, provider, include_closed };
    const { body, providers } = await this.outcomes.of(outcomesQuery, this.now());
    return dataReply(body, { cache: MINUTE, providers });
  }

  @Endpoint(endpoints.tickSize)
  tickSizeGone(): Reply {
    const moved_to = new URL('/v1/markets/tick-size', this.ports.companionUrl()).href;
    return { status: 410, body: { detail: GONE, moved_to } };
  }

  /** Treats a provider that operators have switched off as unknown. */
  private async offered({ provider, raw }: ProviderAsSent): Promise<Provider> {
    if (isSetTo(await this.ports.flags.lastKnown(), activeFlag(provider))) return provider;
    throw unknownProvider(raw);
  }

  private now(): number {
    return microsNow(this.ports.clock);
  }
}
