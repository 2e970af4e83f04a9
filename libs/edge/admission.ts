import type { IncomingMessage } from 'node:http';
import type { BoundEndpoint, EndpointSpec, Principal } from './endpoint.js';
import type { PathMatch, PathTree } from './path-tree.js';
import {
  AUTHORITY_UNAVAILABLE,
  FORBIDDEN,
  HEADERS_TOO_LARGE,
  INTERNAL_ERROR,
  INTERNAL_HEADERS,
  NOT_FOUND,
  methodNotAllowed,
  unauthorized,
  type Reply,
} from './reply/reply.js';
import { framingFault } from './exchange/request-framing.js';
import { bearerToken, carriesInternalHeader } from './exchange/request-headers.js';
import { splitTarget } from './exchange/target.js';

export type AuthOutcome = Principal | 'unauthorized' | 'unavailable';

/** Says who a token stands for. It may answer at once: most tokens have been seen before. */
export interface Authenticator {
  authenticate(token: string): AuthOutcome | Promise<AuthOutcome>;
}

/** A request that may reach this endpoint, as far as its head tells. */
export interface Admitted {
  readonly endpoint: BoundEndpoint;
  readonly captured: readonly string[];
  readonly query: string;
  readonly principal: Principal | undefined;
  readonly bearerToken: string | undefined;
}

/** The checks that need no body: internal header, token, path, method, capability, in this order. */
export class Admission {
  constructor(
    private readonly paths: PathTree,
    private readonly authenticator: Authenticator,
    private readonly limits: { readonly headerCount: number },
  ) {}

  /** A WebSocket handshake may bring its token in another way. */
  async admit(request: IncomingMessage, token = bearerToken(request)): Promise<Admitted | Reply> {
    const refused = this.refuseHead(request);
    if (refused !== undefined) return refused;
    const { path, query } = splitTarget(request.url ?? '');
    const match = this.paths.find(path);
    const method = request.method === 'HEAD' ? 'GET' : (request.method ?? '');
    const endpoint = match?.endpoints.get(method);
    let principal: Principal | undefined;
    if (needsToken(endpoint?.spec, path)) {
      const known = token === undefined ? 'unauthorized' : await this.authenticator.authenticate(token);
      if (known === 'unauthorized') return unauthorized(endpoint?.spec.unauthorizedMessage);
      if (known === 'unavailable') return outageOf(endpoint?.spec);
      principal = known;
    }
    if (match === undefined) return NOT_FOUND;
    if (endpoint === undefined || !isVisible(endpoint.spec, principal)) return refuseMethod(match, principal);
    if (!isAllowed(endpoint.spec, principal)) return FORBIDDEN;
    return { endpoint, captured: match.captured, query, principal, bearerToken: token };
  }

  private refuseHead(request: IncomingMessage): Reply | undefined {
    if (carriesInternalHeader(request.headers)) return INTERNAL_HEADERS;
    if (request.rawHeaders.length > 2 * this.limits.headerCount) return HEADERS_TOO_LARGE;
    return framingFault(request);
  }
}

/** Everything under /v1 wants a token, known or not, so that without one nobody learns what is there. */
function needsToken(spec: EndpointSpec | undefined, path: string): boolean {
  if (spec !== undefined) return spec.access === 'session';
  return path === '/v1' || path.startsWith('/v1/');
}

/** Nobody can say at present what has to be known. */
export function outageOf(spec: EndpointSpec | undefined): Reply {
  return spec?.neverUnavailable === true ? INTERNAL_ERROR : AUTHORITY_UNAVAILABLE;
}

function isVisible(spec: EndpointSpec, principal: Principal | undefined): boolean {
  return spec.role === undefined || principal?.roles.has(spec.role) === true;
}

function isAllowed({ capability, requiredRole }: EndpointSpec, principal: Principal | undefined): boolean {
  if (capability !== undefined && principal?.capabilities.has(capability) !== true) return false;
  return requiredRole === undefined || principal?.roles.has(requiredRole) === true;
}

/** A path whose every method is hidden from this caller does not exist for it, whatever method it tries. */
function refuseMethod(match: PathMatch, principal: Principal | undefined): Reply {
  const methods = [...match.endpoints.values()]
    .filter(({ spec }) => isVisible(spec, principal))
    .flatMap(({ spec }) => (spec.method === 'GET' ? ['GET', 'HEAD'] : [spec.method]));
  return methods.length === 0 ? NOT_FOUND : methodNotAllowed(methods);
}
