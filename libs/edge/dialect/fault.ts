import type { FaultLocation } from '../decoding/reading.js';
import type { EndpointSpec } from '../endpoint.js';

/** Everything that the edge itself refuses. What a handler refuses is a reply of its own. */
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

/** After these nothing on the connection is taken for a request any more. */
export const CLOSING_FAULTS: ReadonlySet<FaultKind> = new Set<FaultKind>([
  'malformed-request',
  'unsupported-transfer-coding',
  'headers-too-large',
]);

/** Why the edge refuses a request. The dialect of the service writes it in its own envelope. */
export interface Fault {
  readonly kind: FaultKind;
  /** Undefined where no endpoint was found. */
  readonly spec?: EndpointSpec | undefined;
  /** The code that the declaration names for this id, query or body. */
  readonly code?: string | undefined;
  readonly location?: FaultLocation | undefined;
  /** Why, in words for people, where a check of the dialect has some of its own. */
  readonly message?: string;
  /** Those that the path has; only of `method-not-allowed`. */
  readonly methods?: readonly string[];
}
