import type { Call } from '#libs/edge/endpoint.js';
import type { Reply } from '#libs/edge/reply/reply.js';
import type { ApiCaller } from '#libs/identity/api-keys/authenticate.js';
import type { AccessFlags } from '#libs/identity/api-keys/provider-access.js';
import type { LinkReply } from '#libs/link/link-protocol.js';
import type { Clock } from '#libs/platform/time/clock.js';
import type { OrderRefusal, TraderRequest } from '../../protocol/cell-protocol.js';
import type { VenueId } from '../../rules/venues.js';

/** What the dialect has found out about a call. */
export interface AccountCall {
  readonly caller: ApiCaller;
  /** The header `X-Reauth`. */
  readonly reauth: string | undefined;
  /** The other end of the socket. */
  readonly peer: string;
}

/** How the interface of orders speaks, and whom it asks. */
export interface AccountPorts {
  readonly callOf: (call: Omit<Call, 'query' | 'body' | 'ids' | 'idempotencyKey'>) => AccountCall;
  /** A refusal in the envelope, with the classification of its code. */
  readonly refuse: (status: number, refusal: OrderRefusal) => Reply;
  /** Asks the user's cell. One that cannot be asked is a refusal like any other. */
  readonly askCell: (request: TraderRequest) => Promise<LinkReply>;
  readonly access: AccessFlags;
  /** The registered ones, sorted. */
  readonly venues: readonly VenueId[];
  readonly clock: Clock;
}

export const ACCOUNT_PORTS = Symbol('what the account routes are given');
