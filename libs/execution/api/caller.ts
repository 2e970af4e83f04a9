import type { Caller } from '#libs/edge/endpoint.js';
import type { ApiCaller, CallerOutcome, CallCredentials } from '#libs/identity/api-keys/authenticate.js';
import { satisfies } from '#libs/identity/api-keys/scopes.js';
import type { OrderCaller } from '../protocol/cell-protocol.js';

/** Says who calls, by what a request shows of a key or of a session. */
export interface CallerGate {
  authenticate(parts: CallCredentials): CallerOutcome | Promise<CallerOutcome>;
}

/** What endpoints of this service may ask for. */
export const SCOPES = ['trade:execute', 'trade:read', 'position:read', 'read', 'trade'] as const;
export type Scope = (typeof SCOPES)[number];

/** The edge's form of a caller: its scopes are the capabilities that endpoints ask for. */
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

/** Of a call of this service's listener, where every caller was made by its own check. */
export function apiCallerOf(principal: Caller | undefined): ApiCaller {
  if (principal instanceof ExecutionCaller) return principal.api;
  throw new Error('a call of execution without a caller of execution');
}

/** As cells are told who asks. */
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
