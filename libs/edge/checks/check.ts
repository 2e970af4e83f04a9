import type { IncomingMessage, ServerResponse } from 'node:http';
import type { DialectRules, RateWindow } from '../dialect/dialect-rules.js';
import type { Fault } from '../dialect/fault.js';
import type { BoundEndpoint, Caller, EndpointSpec } from '../endpoint.js';
import { splitTarget } from '../exchange/target.js';
import type { PathMatch, PathTree } from '../path-tree.js';
import type { Connections } from '../server/connections.js';
import type { ServerLimits } from '../server/server-limits.js';

/** The client has disconnected, so no reply is sent. */
export const GONE = 'gone';
export type CheckOutcome = Fault | typeof GONE | undefined;

export type AuthOutcome = Caller | 'unauthorized' | 'unavailable';

/** Finds the caller of a token. Replies synchronously for tokens that are cached, which most are. */
export interface Authenticator {
  authenticate(token: string): AuthOutcome | Promise<AuthOutcome>;
}

/** The services available to checks. */
export interface CheckTools {
  readonly dialect: DialectRules;
  readonly paths: PathTree;
  readonly authenticator: Authenticator;
  readonly limits: ServerLimits;
  readonly connections: Connections;
}

/** One step between a request and its handler. It refuses the request, or adds facts to its inspection. */
export interface Check {
  readonly name: string;
  /** The checks that must run before this one. */
  readonly after: readonly string[];
  /** A WebSocket handshake has no body, so this check is skipped for it. */
  readonly readsBody?: true;
  run(inspection: Inspection, tools: CheckTools): CheckOutcome | Promise<CheckOutcome>;
}

/** The facts known about one request. */
export class Inspection {
  readonly path: string;
  readonly rawQuery: string;
  match: PathMatch | undefined;
  /** As presented. On public endpoints it is not verified. */
  token: string | undefined;
  principal: Caller | undefined;
  isAdmitted = false;
  rate: RateWindow | undefined;
  bytes: Buffer | undefined;
  ids: Readonly<Record<string, string>> = {};
  query: unknown;
  body: object | undefined;
  /** Keys in the body besides its content. */
  bodyKeys: readonly string[] = [];
  idempotencyKey: string | undefined;

  /** `response` is undefined for a handshake. */
  constructor(
    readonly request: IncomingMessage,
    readonly response?: ServerResponse,
  ) {
    const { path, query } = splitTarget(request.url ?? '');
    this.path = path;
    this.rawQuery = query;
  }

  /** HEAD is answered like GET. */
  get method(): string {
    const { method = '' } = this.request;
    return method === 'HEAD' ? 'GET' : method;
  }

  /** Undefined for a path or a method that does not exist. */
  get endpoint(): BoundEndpoint | undefined {
    return this.match?.endpoints.get(this.method);
  }

  /** The operation, once the caller is permitted to call it. Until then logs must not name it. */
  get admittedSpec(): EndpointSpec | undefined {
    return this.isAdmitted ? this.endpoint?.spec : undefined;
  }

  /** The endpoint. Available after the check of the method, which refuses an unknown one. */
  get found(): BoundEndpoint {
    const { endpoint } = this;
    if (endpoint === undefined)
      throw new Error('a check that needs the endpoint runs before the check of the method');
    return endpoint;
  }
}

/** Throws if a check would run before another that it depends on. */
export function orderOf(checks: readonly Check[]): readonly Check[] {
  const done = new Set<string>();
  for (const { name, after } of checks) {
    const missing = after.find((needed) => !done.has(needed));
    if (missing !== undefined) throw new Error(`${name} is checked before ${missing}`);
    done.add(name);
  }
  return checks;
}
