import { Inject, Injectable } from '@nestjs/common';
import { Endpoint } from '#libs/edge/endpoint-decorator.js';
import type { CallOf } from '#libs/edge/endpoint.js';
import type { Reply } from '#libs/edge/reply/reply.js';
import type { ApiCaller } from '#libs/identity/api-keys/authenticate.js';
import { SESSION_SCOPES } from '#libs/identity/api-keys/scopes.js';
import type { LinkReply } from '#libs/link/link-protocol.js';
import { instantFromNanos } from '#libs/base/instant.js';
import type { OrderCaller } from '../../protocol/cell-protocol.js';
import type { CellRefusal, CellReplies } from '../../protocol/cell-replies.js';
import { fromWire } from '../../protocol/wire.js';
import { printTime } from '../../rules/record.js';
import type { VenueId } from '../../rules/venues.js';
import { getLimits, getScopes } from './account-endpoints.js';
import { ACCOUNT_PORTS, type AccountPorts } from './account-ports.js';
import { VenueLinks, type LinkedVenues } from './venue-links.js';

const ACCESS = { enabled: true, disabled: false, unknown: null } as const;

/** What a caller may know of its credentials, and of what is left of its limits. */
@Injectable()
export class AccountController {
  private readonly links: VenueLinks;

  constructor(@Inject(ACCOUNT_PORTS) private readonly ports: AccountPorts) {
    this.links = new VenueLinks(ports.clock);
  }

  @Endpoint(getScopes)
  async scopes(call: CallOf<typeof getScopes>): Promise<Reply> {
    const { caller } = this.ports.callOf(call);
    const asking = orderCaller(caller, call.requestId);
    const slot = await this.ports.askCell({ ...asking, op: 'take_slot', limit: 'reads' });
    if (slot.status !== 200) return this.refusal(slot);
    const links = await this.links.of(caller.user_id, () => this.askLinks(asking), isLinked);
    if (!isLinked(links)) return this.refusal(links);
    const isSession = caller.auth_method === 'session';
    const limit = caller.orders_per_minute;
    const body = {
      user_id: caller.user_id,
      auth_method: caller.auth_method,
      ...(caller.client_id === undefined ? {} : { client_id: caller.client_id }),
      scopes: isSession ? SESSION_SCOPES : caller.scopes,
      scope_model: isSession ? 'unrestricted' : 'explicit',
      rate_limits: limit === undefined ? {} : { orders_per_minute: limit },
      venues: this.ports.venues.map((venue) => this.venueRow(venue, links.has(venue))),
      as_of: printTime(instantFromNanos(this.ports.clock.epochNanos())),
    };
    return { status: 200, body };
  }

  @Endpoint(getLimits)
  async limits(call: CallOf<typeof getLimits>): Promise<Reply> {
    const { caller } = this.ports.callOf(call);
    const reply = await this.ports.askCell({ ...orderCaller(caller, call.requestId), op: 'limits' });
    return reply.status === 200 ? { status: 200, body: reply.body } : this.refusal(reply);
  }

  private venueRow(venue: VenueId, isLinkedThere: boolean): object {
    const link_with = venue === 'venue_b' ? 'POST /exchanges/venue_b/enable-trading' : 'venues.link';
    return {
      exchange_id: venue,
      api_access_enabled: ACCESS[this.ports.access.accessOf(venue)],
      trading_linked: isLinkedThere,
      ...(isLinkedThere ? {} : { link_with }),
    };
  }

  private async askLinks(asking: OrderCaller): Promise<LinkedVenues | LinkReply> {
    const reply = await this.ports.askCell({ ...asking, op: 'links' });
    if (reply.status !== 200) return reply;
    const { links } = fromWire(reply.body) as CellReplies['links'];
    return new Set(links.map(({ venue }) => venue));
  }

  private refusal({ status, body }: LinkReply): Reply {
    return this.ports.refuse(status, fromWire(body) as CellRefusal);
  }
}

function orderCaller(caller: ApiCaller, request_id: string): OrderCaller {
  return {
    user_id: caller.user_id,
    request_id,
    ...(caller.client_id === undefined ? {} : { client_id: caller.client_id }),
    ...(caller.orders_per_minute === undefined ? {} : { orders_per_minute: caller.orders_per_minute }),
  };
}

function isLinked(answer: LinkedVenues | LinkReply): answer is LinkedVenues {
  return !('status' in answer);
}
