import type { Pool } from 'pg';
import { Endpoint } from '#libs/edge/endpoint-decorator.js';
import type { CallOf } from '#libs/edge/endpoint.js';
import type { Reply } from '#libs/edge/reply/reply.js';
import type { Clock } from '#libs/platform/time/clock.js';
import type { Provider } from '../../rules/providers.js';
import { type FoundMarket, MarketReader } from '../../store/market-reader.js';
import { type OutcomeNow, PriceReader } from '../../store/price-reader.js';
import { TickTable } from '../../store/tick-table.js';
import { microsNow } from '../moments.js';
import { refuse } from '../refusals.js';
import { dataReply } from '../replies.js';
import {
  companionBooks,
  companionMarks,
  companionPerpetuals,
  companionTickSize,
  companionTickSizes,
} from './companion-endpoints.js';
import { perpetualRow } from './contract-rows.js';
import { askedOutcomes, bookRow, markRow } from './instrument-rows.js';
import { contractNotFound, TickSizes } from './tick-sizes.js';

export interface CompanionPorts {
  readonly pool: Pool;
  readonly clock: Pick<Clock, 'epochNanos'>;
}

interface InstrumentQuery {
  readonly provider: Provider;
  readonly contract_id: readonly string[];
  readonly asset_id: string | undefined;
}

interface RequestedInstrument {
  /** As the caller sent it. */
  readonly contractId: string;
  readonly market: FoundMarket;
  readonly index: number;
  readonly now: OutcomeNow;
}

/** Companion routes that look contracts up by id. */
export class CompanionController {
  private readonly markets: MarketReader;
  private readonly prices: PriceReader;
  private readonly tickSizes: TickSizes;
  private readonly ticks = new TickTable();

  constructor(private readonly ports: CompanionPorts) {
    const { pool } = ports;
    this.markets = new MarketReader(pool);
    this.prices = new PriceReader(pool);
    this.tickSizes = new TickSizes(this.markets);
  }

  @Endpoint(companionMarks)
  async marks({ query }: CallOf<typeof companionMarks>): Promise<Reply> {
    const instruments = await this.instruments(query);
    const marks = instruments.map(({ contractId, market, index, now }) =>
      markRow(market.state, contractId, index, now),
    );
    return dataReply({ marks }, { providers: [query.provider] });
  }

  @Endpoint(companionBooks)
  async books({ query }: CallOf<typeof companionBooks>): Promise<Reply> {
    const { provider, depth } = query;
    const instruments = await this.instruments(query);
    const books = instruments.map(({ contractId, market, index, now }) =>
      bookRow(market.state, contractId, index, { now, depth }),
    );
    return dataReply({ books }, { providers: [provider] });
  }

  /** Each id once, in the order of the request. Unknown ids are left out. */
  private async instruments(query: InstrumentQuery): Promise<RequestedInstrument[]> {
    const { provider, contract_id: ids, asset_id } = query;
    const found = await this.markets.find(provider, ids);
    const prices = await this.prices.of(provider, [...found.values()], microsNow(this.ports.clock));
    return [...new Set(ids)].flatMap((contractId) => {
      const market = found.get(contractId);
      if (market === undefined) return [];
      const outcomes = prices.get(market.marketNo) ?? [];
      return askedOutcomes(market, asset_id).flatMap((index) => {
        const now = outcomes[index];
        return now === undefined ? [] : [{ contractId, market, index, now }];
      });
    });
  }

  @Endpoint(companionPerpetuals)
  async perpetuals({ query }: CallOf<typeof companionPerpetuals>): Promise<Reply> {
    const { provider, symbol } = query;
    const ticks = await this.ticks.perpetuals(this.ports.pool, provider, symbol);
    return dataReply({ perpetuals: ticks.map(perpetualRow) }, { providers: [provider] });
  }

  @Endpoint(companionTickSize)
  async tickSize({ query }: CallOf<typeof companionTickSize>): Promise<Reply> {
    const [row] = await this.tickSizes.of(query.provider, [query]);
    if (row === undefined) throw refuse(404, contractNotFound(query.contract_id));
    return dataReply(row, { providers: [query.provider] });
  }

  @Endpoint(companionTickSizes)
  async tickSizeBatch({ body }: CallOf<typeof companionTickSizes>): Promise<Reply> {
    const { results, providers } = await this.tickSizes.batch(body.items);
    return dataReply({ results }, { providers });
  }
}
