import { Injectable } from '@nestjs/common';
import { Endpoint } from '#libs/edge/endpoint-decorator.js';
import type { CallOf } from '#libs/edge/endpoint.js';
import type { Reply } from '#libs/edge/reply/reply.js';
import { CAPABILITIES, type VenueId } from '../../rules/venues.js';
import { apiCallerOf, orderCaller } from '../caller.js';
import { isAlias, marked } from '../deprecations.js';
import { ExecutionParts } from '../execution-parts.js';
import { answering, emptyReply, RefusedCall } from '../refusals.js';
import {
  enableTrading,
  getCapabilities,
  getExchange,
  getTradingStatus,
  listExchanges,
} from './exchange-endpoints.js';
import { linkedReply, linkVenue, readLinking } from './linking.js';

/** Reads of venues, and linking of the caller's account. */
@Injectable()
export class ExchangesController {
  constructor(private readonly parts: ExecutionParts) {}

  @Endpoint(listExchanges)
  list(): Reply {
    return { status: 200, body: this.parts.venues.ids };
  }

  @Endpoint(getExchange)
  get({ ids: { exchange_id } }: CallOf<typeof getExchange>): Promise<Reply> {
    return this.of(exchange_id, async (venue) => {
      const capabilities = await this.capabilitiesOf(venue);
      const { display_name: name } = CAPABILITIES[venue];
      return { id: exchange_id, name, is_active: capabilities.is_active, capabilities };
    });
  }

  @Endpoint(getCapabilities)
  capabilities({ ids: { exchange_id } }: CallOf<typeof getCapabilities>): Promise<Reply> {
    return this.of(exchange_id, (venue) => this.capabilitiesOf(venue));
  }

  @Endpoint(getTradingStatus)
  status({ ids, principal, requestId }: CallOf<typeof getTradingStatus>): Promise<Reply> {
    return this.of(ids.exchange_id, (venue) =>
      this.parts.cells.told<'trading_status'>({
        ...orderCaller(apiCallerOf(principal), requestId),
        ...{ op: 'trading_status', venue },
      }),
    );
  }

  @Endpoint(enableTrading)
  enable({ ids, principal, requestId, body }: CallOf<typeof enableTrading>): Promise<Reply> {
    return answering(async () => {
      const venue = this.parts.venues.named(ids.exchange_id)?.venue;
      if (venue !== 'venue_b') return emptyReply(404);
      const caller = apiCallerOf(principal);
      this.parts.platformAccess.check(caller, venue, 'told');
      const credentials = readLinking(body);
      const { executor } = this.parts.opened;
      const linked_at = await linkVenue(executor, caller, { venue, request_id: requestId, credentials });
      return marked(linkedReply(venue, linked_at), isAlias(ids.exchange_id));
    });
  }

  private of(id: string, work: (venue: VenueId) => Promise<object>): Promise<Reply> {
    return answering(async () => {
      const named = this.parts.venues.named(id);
      if (named === undefined) throw new RefusedCall(emptyReply(404));
      return marked({ status: 200, body: await work(named.venue) }, named.is_alias);
    });
  }

  private async capabilitiesOf(venue: VenueId): Promise<{ readonly is_active: boolean }> {
    const is_active = !(await this.parts.opened.switches.isHalted(venue));
    return { ...CAPABILITIES[venue], is_active };
  }
}
