import type { EndpointSpec } from '../endpoint.js';
import { canQueryFail, queryFault } from '../exchange/query-rule.js';

export interface EdgeAnswer {
  /** Under this name the document defines it once. */
  readonly name: string;
  readonly status: number;
  readonly codes: readonly string[];
  readonly description: string;
}

/** What the edge can answer to any request, whatever it asks for. */
export const EDGE_ANSWERS: readonly EdgeAnswer[] = [
  {
    name: 'BadRequest',
    status: 400,
    codes: ['malformed_request', 'invalid_json', 'multiple_json_values'],
    description:
      'The peer does not speak HTTP properly or names no host, and then the connection is closed; or a body that is not JSON as documented, or one where none is taken.',
  },
  {
    name: 'Unauthorized',
    status: 401,
    codes: ['unauthorized'],
    description:
      'No bearer token, or one that does not count (any more). Comes for every path under /v1, known or not.',
  },
  {
    name: 'InternalHeaders',
    status: 403,
    codes: ['internal_routing_headers_forbidden'],
    description: 'A header that only the service itself may send.',
  },
  {
    name: 'NoSuchPath',
    status: 404,
    codes: ['not_found'],
    description: 'There is no such path, or none for this caller.',
  },
  {
    name: 'MethodNotAllowed',
    status: 405,
    codes: ['method_not_allowed'],
    description: 'The path has other methods.',
  },
  {
    name: 'RequestTimeout',
    status: 408,
    codes: ['request_timeout'],
    description: 'The request did not arrive in time. The connection is closed.',
  },
  {
    name: 'PayloadTooLarge',
    status: 413,
    codes: ['payload_too_large'],
    description: 'The body is too large, told by what comes and not only by what is announced.',
  },
  {
    name: 'UnsupportedMediaType',
    status: 415,
    codes: ['unsupported_media_type'],
    description: 'A content type other than application/json, or any content encoding.',
  },
  {
    name: 'HeadersTooLarge',
    status: 431,
    codes: ['request_headers_too_large'],
    description: 'Too many headers, or too long ones.',
  },
  {
    name: 'InternalError',
    status: 500,
    codes: ['internal_error'],
    description: 'A fault of ours. Give the request id when you ask about it.',
  },
  {
    name: 'UnsupportedTransferCoding',
    status: 501,
    codes: ['unsupported_transfer_coding'],
    description: 'A transfer coding other than `chunked`. The connection is closed.',
  },
  {
    name: 'Unavailable',
    status: 503,
    codes: ['too_many_pipelined_requests', 'owner_routing_unavailable'],
    description:
      'Too many requests in line on one connection, which is closed; or nobody can say at present who is calling or where the call has to go.',
  },
];

/** These say that there is no such operation, so no operation has them. */
const OF_NO_OPERATION: ReadonlySet<string> = new Set(['NoSuchPath', 'MethodNotAllowed']);

/** The refusals of an operation by status: its own, and those that follow for the edge from its declaration. */
export function codesOf(spec: EndpointSpec): Map<number, readonly string[]> {
  const codes = new Map<number, Set<string>>();
  const add = (status: number, ...given: readonly (string | undefined)[]): void => {
    const known = codes.get(status) ?? codes.set(status, new Set()).get(status);
    for (const code of given) if (code !== undefined) known?.add(code);
  };
  for (const [status, own] of Object.entries(spec.statuses ?? {})) {
    if (own.length > 0) add(Number(status), ...own);
  }
  for (const { name, status, codes: common } of EDGE_ANSWERS) {
    if (OF_NO_OPERATION.has(name)) continue;
    if (name === 'Unauthorized' && spec.access === 'public') continue;
    if (status === 503 && spec.neverUnavailable === true) continue;
    add(status, ...common);
  }
  addDeclared(spec, add);
  return new Map([...codes].map(([status, set]) => [status, [...set]]));
}

function addDeclared(
  spec: EndpointSpec,
  add: (status: number, ...codes: readonly (string | undefined)[]) => void,
): void {
  add(400, ...Object.values(spec.ids ?? {}).map(({ fault }) => fault));
  if (canQueryFail(spec)) add(400, queryFault(spec));
  if (spec.capability !== undefined || spec.requiredRole !== undefined) add(403, 'forbidden');
  if (spec.role !== undefined) add(404, 'not_found');
  if (spec.bodyFault !== undefined) add(400, spec.bodyFault);
  if (spec.idempotency === 'required') add(400, 'idempotency_key_required', 'idempotency_key_mismatch');
}
