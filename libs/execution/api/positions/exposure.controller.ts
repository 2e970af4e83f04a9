import { Injectable } from '@nestjs/common';
import { instantFromNanos } from '#libs/base/instant.js';
import { Endpoint } from '#libs/edge/endpoint-decorator.js';
import { endpoint, type CallOf } from '#libs/edge/endpoint.js';
import type { Reply } from '#libs/edge/reply/reply.js';
import { exposureRecord, type ExposureSelection } from '../../rules/exposure.js';
import { emptyUser } from '../../rules/user.js';
import { venueNamed } from '../../rules/venues.js';
import { apiCallerOf, orderCaller } from '../caller.js';
import { isAlias, marked } from '../deprecations.js';
import { ExecutionParts } from '../execution-parts.js';
import { params, type Params } from '../params.js';
import { answering } from '../refusals.js';
import { exposure } from '../record-shapes.js';
import { TEXT } from '../shapes.js';
import { takeSlot } from '../slots.js';
import { positionId } from '../../protocol/position-id.js';

/** After this time the projection answers, which has no reservations. */
const CELL_PATIENCE_MS = 300;

export const getExposure = endpoint({
  operationId: 'getExposure',
  method: 'GET',
  path: '/positions/exposure',
  access: 'session',
  capability: 'position:read',
  query: params({ names: { exchange_id: TEXT, market_id: TEXT, token_id: TEXT } }),
  summary: "The caller's positions, and how much of each may be sold",
  answers: {
    200: {
      description: 'Positions by venue, market, token and wallet.',
      body: exposure,
    },
  },
  statuses: { 429: ['RATE_LIMITED_CALLS'] },
});

@Injectable()
export class ExposureController {
  constructor(private readonly parts: ExecutionParts) {}

  @Endpoint(getExposure)
  get({ principal, requestId, query }: CallOf<typeof getExposure>): Promise<Reply> {
    return answering(async () => {
      const { cells } = this.parts;
      const caller = apiCallerOf(principal);
      const select = selectionIn(query);
      await takeSlot(cells, caller, requestId, 'reads');
      const answer = await cells.ask<'exposure'>(
        { ...orderCaller(caller, requestId), op: 'exposure', select },
        CELL_PATIENCE_MS,
      );
      const body = answer.ok ? answer.value : await this.central(caller.user_id, select);
      return marked({ status: 200, body }, isAlias(query.text('exchange_id')));
    });
  }

  /** The exposure from the projection, where nothing is verified and no reservation is known. */
  private async central(user_id: string, select: ExposureSelection): Promise<object> {
    const { reads, clock } = this.parts.opened;
    const { holdings } = await reads.exposure.of(user_id);
    const now = instantFromNanos(clock.epochNanos());
    const projected = exposureRecord({ ...emptyUser, holdings }, select, now, positionId);
    const rows = Array.isArray(projected.positions) ? projected.positions : [];
    return {
      ...projected,
      positions: rows.map((row: Readonly<Record<string, unknown>>) => ({
        ...row,
        ...{ available_to_sell: row.net_size, reserved: '0', reservations_verified: false },
      })),
      ...{ reservation_source: 'central', reservations_authoritative: false },
    };
  }
}

function selectionIn(query: Params): ExposureSelection {
  const exchange = query.text('exchange_id');
  const venue = exchange === undefined ? undefined : venueNamed(exchange)?.venue;
  if (exchange !== undefined && venue === undefined) throw query.wrong('exchange_id');
  const [market_id, token_id] = [query.text('market_id'), query.text('token_id')];
  return {
    ...(venue === undefined ? {} : { venue }),
    ...(market_id === undefined ? {} : { market_id }),
    ...(token_id === undefined ? {} : { token_id }),
  };
}
