import { Injectable } from '@nestjs/common';
import { Endpoint } from '#libs/edge/endpoint-decorator.js';
import type { CallOf } from '#libs/edge/endpoint.js';
import type { Reply } from '#libs/edge/reply/reply.js';
import { dataCallerOf } from '../callers.js';
import type { KeyAccess } from '../flags/key-access.js';
import { dataReply } from '../replies.js';
import { tradesOfVenueA, tradesOfVenueB } from './venue-trades-endpoints.js';
import type { VenueTrades } from './venue-trades.js';

export interface ShownTradesPorts {
  readonly access: KeyAccess;
  readonly trades: VenueTrades;
}

/** Routes that pass on trades of two venues, without our store. */
@Injectable()
export class VenueTradesController {
  constructor(private readonly ports: ShownTradesPorts) {}

  @Endpoint(tradesOfVenueB)
  async ofB({ principal, query }: CallOf<typeof tradesOfVenueB>): Promise<Reply> {
    await this.ports.access.check(dataCallerOf(principal), 'venue_b');
    const { ticker, limit, cursor, min_ts: from, max_ts: to } = query;
    return dataReply(await this.ports.trades.ofB({ ticker, limit, cursor, from, to }));
  }

  @Endpoint(tradesOfVenueA)
  async ofA({ principal, query }: CallOf<typeof tradesOfVenueA>): Promise<Reply> {
    await this.ports.access.check(dataCallerOf(principal), 'venue_a');
    const { market: ids, limit, after: from, before: to } = query;
    return dataReply(await this.ports.trades.ofA({ ids, limit, from, to }));
  }
}
