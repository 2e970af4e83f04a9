import { Injectable } from '@nestjs/common';
import { Endpoint } from '#libs/edge/endpoint-decorator.js';
import type { CallOf } from '#libs/edge/endpoint.js';
import type { Reply } from '#libs/edge/reply/reply.js';
import type { AccessFlags } from '#libs/identity/api-keys/provider-access.js';
import { SESSION_SCOPES } from '#libs/identity/api-keys/scopes.js';
import type { Clock } from '#libs/platform/time/clock.js';
import { instantFromNanos } from '#libs/base/instant.js';
import { printTime } from '../../rules/record.js';
import type { VenueId } from '../../rules/venues.js';
import { apiCallerOf, orderCaller } from '../caller.js';
import type { Cells } from '../cells.js';
import { answering } from '../refusals.js';
import type { Venues } from '../venues.js';
import { getLimits, getScopes } from './account-endpoints.js';
import type { VenueLinks } from './venue-links.js';

export interface CredentialsPorts {
  readonly cells: Cells;
  readonly venues: Pick<Venues, 'ids'>;
  readonly access: AccessFlags;
  readonly links: VenueLinks;
  readonly clock: Clock;
}

const ACCESS = { enabled: true, disabled: false, unknown: null } as const;

/** Shows callers their own rights and rate limits. */
@Injectable()
export class CredentialsController {
  constructor(private readonly ports: CredentialsPorts) {}

  @Endpoint(getScopes)
  scopes({ principal, requestId }: CallOf<typeof getScopes>): Promise<Reply> {
    return answering(async () => {
      const caller = apiCallerOf(principal);
      const asking = orderCaller(caller, requestId);
      const { cells, venues, clock } = this.ports;
      await cells.told<'take_slot'>({ ...asking, op: 'take_slot', limit: 'reads' });
      const linked = await this.ports.links.of(asking);
      const isSession = caller.auth_method === 'session';
      const limit = caller.orders_per_minute;
      const body = {
        user_id: caller.user_id,
        auth_method: caller.auth_method,
        ...(caller.client_id === undefined ? {} : { client_id: caller.client_id }),
        scopes: isSession ? SESSION_SCOPES : caller.scopes,
        scope_model: isSession ? 'unrestricted' : 'explicit',
        rate_limits: limit === undefined ? {} : { orders_per_minute: limit },
        venues: venues.ids.map((venue) => this.venueRow(venue, linked.has(venue))),
        as_of: printTime(instantFromNanos(clock.epochNanos())),
      };
      return { status: 200, body };
    });
  }

  @Endpoint(getLimits)
  limits({ principal, requestId }: CallOf<typeof getLimits>): Promise<Reply> {
    return answering(async () => {
      const asking = orderCaller(apiCallerOf(principal), requestId);
      const { limits, as_of } = await this.ports.cells.told<'limits'>({ ...asking, op: 'limits' });
      return { status: 200, body: { limits, as_of } };
    });
  }

  private venueRow(venue: VenueId, isLinked: boolean): object {
    const link_with = venue === 'venue_b' ? 'POST /exchanges/venue_b/enable-trading' : 'venues.link';
    return {
      exchange_id: venue,
      api_access_enabled: ACCESS[this.ports.access.accessOf(venue)],
      trading_linked: isLinked,
      ...(isLinked ? {} : { link_with }),
    };
  }
}
