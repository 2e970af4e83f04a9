import { MISMATCH } from '../decoding/decode.js';
import type { EndpointSpec } from '../endpoint.js';

/** What says the same to everybody is asked by balancers and browsers, which add to a query what they please. */
function isAnyQueryIgnored({ access, method, query }: EndpointSpec): boolean {
  return query === undefined && access === 'public' && method === 'GET';
}

/** A parameter that nobody knows was meant to be heeded, and would not be: it is a fault wherever callers are known. */
export function readQuery(spec: EndpointSpec, raw: string): unknown {
  if (spec.query !== undefined) return spec.query.read(raw);
  return raw === '' || isAnyQueryIgnored(spec) ? undefined : MISMATCH;
}

/** The code for a query that is not that of the endpoint. */
export function queryFault({ query }: EndpointSpec): string {
  return query?.fault ?? 'invalid_request';
}

export function canQueryFail(spec: EndpointSpec): boolean {
  return !isAnyQueryIgnored(spec);
}
