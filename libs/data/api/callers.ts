import type { IncomingMessage } from 'node:http';
import type { Caller } from '#libs/edge/endpoint.js';
import { satisfies } from '#libs/identity/api-keys/scopes.js';

/** The scopes that endpoints of this service may require of a key. */
export const DATA_SCOPES = ['trade:read', 'position:read'] as const;

/** For callers without this role, the routes of operators do not exist. */
export const ADMIN = 'ADMIN';

interface CallerFacts {
  /** Empty for the admin secret, which belongs to no user. */
  readonly userId: string;
  readonly kind: 'key' | 'session' | 'admin';
  /** The scopes that the key was given. */
  readonly scopes?: readonly string[];
  /** Checked for sessions only. */
  readonly isInvited: boolean;
}

/** The caller of a request, as the edge expects it. */
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

/** The caller of a call to this service; undefined for an anonymous call. Only this service's own check makes callers here. */
export function dataCallerOf(principal: Caller | undefined): DataCaller | undefined {
  if (principal === undefined || principal instanceof DataCaller) return principal;
  throw new Error('a call of market data with a caller of another service');
}

/** `undefined`: the request has no credential. */
export type CredentialOutcome = DataCaller | CallerRefusal | undefined;

export interface CallerRefusal {
  readonly status: 401 | 403 | 429 | 503;
  readonly detail: string;
}

/** Finds the caller from the headers of a request. */
export interface DataCallers {
  callerOf(request: IncomingMessage, address: string): CredentialOutcome | Promise<CredentialOutcome>;
  /** Whether the request is made with the admin secret, and the secret is right. */
  isAdmin(request: IncomingMessage): boolean;
}

/** The address to count by: that of the peer, or of the client of a trusted proxy. */
export type ClientAddress = (request: IncomingMessage) => string;
