import type { IncomingMessage } from 'node:http';
import type { Caller } from '#libs/edge/endpoint.js';
import { satisfies } from '#libs/identity/api-keys/scopes.js';

/** What endpoints of this service may ask of a key. */
export const DATA_SCOPES = ['trade:read', 'position:read'] as const;

/** To callers without this role the routes of operators do not exist. */
export const ADMIN = 'ADMIN';

interface CallerFacts {
  /** Empty for the admin secret, which is nobody's. */
  readonly userId: string;
  readonly kind: 'key' | 'session' | 'admin';
  /** The granted ones of a key. */
  readonly scopes?: readonly string[];
  /** Sessions alone are asked. */
  readonly isInvited: boolean;
}

/** Who calls, in the edge's form. */
export class DataCaller implements Caller {
  readonly account_id: string;
  readonly roles: ReadonlySet<string>;
  readonly capabilities: ReadonlySet<string>;

  constructor(readonly facts: CallerFacts) {
    const { userId, kind, scopes = [] } = facts;
    this.account_id = userId;
    this.roles = new Set(kind === 'admin' ? [ADMIN] : []);
    this.capabilities = new Set(DATA_SCOPES.filter((scope) => kind !== 'key' || satisfies(scopes, scope)));
  }

  get kind(): CallerFacts['kind'] {
    return this.facts.kind;
  }
}

/** Of a call of this service's listener, where every caller was made by its own check; undefined for an anonymous one. */
export function dataCallerOf(principal: Caller | undefined): DataCaller | undefined {
  if (principal === undefined || principal instanceof DataCaller) return principal;
  throw new Error('a call of market data with a caller of another service');
}

/** `undefined`: there is no credential. */
export type CredentialOutcome = DataCaller | CallerRefusal | undefined;

export interface CallerRefusal {
  readonly status: 401 | 403 | 429 | 503;
  readonly detail: string;
}

/** Says who calls, by the headers of a request. */
export interface DataCallers {
  callerOf(request: IncomingMessage, address: string): CredentialOutcome | Promise<CredentialOutcome>;
  /** Whether the admin secret is what counts of this request, and is right. */
  isAdmin(request: IncomingMessage): boolean;
}

/** Whose address counts: that of the client, or of a trusted proxy's client. */
export type ClientAddress = (request: IncomingMessage) => string;
