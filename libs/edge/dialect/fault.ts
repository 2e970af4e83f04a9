import type { FaultLocation } from '../decoding/reading.js';
import type { EndpointSpec } from '../endpoint.js';

/** The reasons for which the edge itself refuses. Refusals by handlers are ordinary replies. */
export const FAULT_KINDS = [
  'malformed-request',
  'unsupported-transfer-coding',
  'headers-too-large',
  'request-timeout',
  'too-many-pipelined',
  'internal-header',
  'unauthorized',
  'not-found',
  'method-not-allowed',
  'forbidden',
  'rate-limited',
  'unsupported-media-type',
  'payload-too-large',
  'invalid-id',
  'invalid-query',
  'invalid-json',
  'trailing-data',
  'invalid-body',
  'key-required',
  'key-mismatch',
  'upgrade-required',
  'unavailable',
  'internal-error',
] as const;
export type FaultKind = (typeof FAULT_KINDS)[number];

/** After these the connection accepts no further requests. */
export const CLOSING_FAULTS: ReadonlySet<FaultKind> = new Set<FaultKind>([
  'malformed-request',
  'unsupported-transfer-coding',
  'headers-too-large',
]);

/** Why the edge refuses a request. The dialect turns it into a reply. */
export interface Fault {
  readonly kind: FaultKind;
  /** Undefined if no endpoint was found. */
  readonly spec?: EndpointSpec | undefined;
  /** The code that the endpoint declares for this id, query or body. */
  readonly code?: string | undefined;
  readonly location?: FaultLocation | undefined;
  /** All locations, if the decoder continues after the first. */
  readonly locations?: readonly FaultLocation[];
  /** A message for people, if the check has one. */
  readonly message?: string;
  /** The methods of the path; only for `method-not-allowed`. */
  readonly methods?: readonly string[];
}
