import { MISMATCH } from '../decoding/decode.js';
import type { Reading } from '../decoding/reading.js';
import type { EndpointSpec } from '../endpoint.js';

/** Balancers and browsers ask what says the same to everyone, and add to the query what they please. */
function isAnyQueryIgnored({ access, method, query }: EndpointSpec): boolean {
  return query === undefined && access === 'public' && method === 'GET';
}

/** An unknown parameter was meant to count, and would not: a strict dialect refuses it wherever callers are known. */
export function readQuery(spec: EndpointSpec, raw: string, reading: Reading): unknown {
  if (spec.query !== undefined) return spec.query.read(raw, reading);
  if (raw === '' || isAnyQueryIgnored(spec) || reading.rules.unknown === 'ignored') return undefined;
  return MISMATCH;
}

/** The code for a query that is not that of the endpoint. */
export function queryFault({ query }: EndpointSpec): string {
  return query?.fault ?? 'invalid_request';
}

export function canQueryFail(spec: EndpointSpec): boolean {
  return !isAnyQueryIgnored(spec);
}
