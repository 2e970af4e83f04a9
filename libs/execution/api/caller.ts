import type { Caller } from '#libs/edge/endpoint.js';
import type { ApiCaller, CallerOutcome, CallCredentials } from '#libs/identity/api-keys/authenticate.js';
import { satisfies } from '#libs/identity/api-keys/scopes.js';
import type { OrderCaller } from '../protocol/cell-protocol.js';

/** Authenticates a caller by the API key or session of its request. */
export interface CallerGate {
  authenticate(parts: CallCredentials): CallerOutcome | Promise<CallerOutcome>;
}

/** The scopes that endpoints of this service may require. */
export const SCOPES = ['trade:execute', 'trade:read', 'position:read', 'read', 'trade'] as const;
export type Scope = (typeof SCOPES)[number];

/** A caller, as the edge expects it. Its scopes are the capabilities that endpoints require. */
export class ExecutionCaller implements Caller {
  readonly account_id: string;
  readonly roles: ReadonlySet<string>;
  readonly capabilities: ReadonlySet<string>;

  constructor(readonly api: ApiCaller) {
    this.account_id = api.user_id;
    this.roles = api.roles;
    this.capabilities = new Set(
      SCOPES.filter((scope) => api.auth_method === 'session' || satisfies(api.scopes, scope)),
    );
  }
}

/** The caller of a request to this service's listener. Its credentials check made every caller there. */
export function apiCallerOf(principal: Caller | undefined): ApiCaller {
  if (principal instanceof ExecutionCaller) return principal.api;
  throw new Error('the call has no caller of order execution');
}

/** The caller's fields in requests to cells. */
export function orderCaller(
  { user_id, client_id, orders_per_minute }: Pick<ApiCaller, 'user_id' | 'client_id' | 'orders_per_minute'>,
  request_id: string,
): OrderCaller {
  return {
    user_id,
    request_id,
    ...(client_id === undefined ? {} : { client_id }),
    ...(orders_per_minute === undefined ? {} : { orders_per_minute }),
  };
}
