import type { Fault, FaultKind } from '../dialect/fault.js';
import type { Reply } from './reply.js';

/** A refusal in the flat envelope: a stable code, and a message if there is more to say. */
export function errorReply(status: number, error: string, message?: string): Reply {
  return { status, body: JSON.stringify(message === undefined ? { error } : { error, message }) };
}

/** The code of a refusal in the flat envelope. Undefined for any other reply. */
export function flatCodeOf({ status, body }: Pick<Reply, 'status' | 'body'>): string | undefined {
  if (status < 400) return undefined;
  return typeof body === 'string' ? /^\{"error":"([^"]*)"/.exec(body)?.[1] : undefined;
}

type StatusAndCode = readonly [status: number, code: string];
export type FlatCodes = Readonly<Record<FaultKind, StatusAndCode>>;

const CODES: FlatCodes = {
  'malformed-request': [400, 'malformed_request'],
  'unsupported-transfer-coding': [501, 'unsupported_transfer_coding'],
  'headers-too-large': [431, 'request_headers_too_large'],
  'request-timeout': [408, 'request_timeout'],
  'too-many-pipelined': [503, 'too_many_pipelined_requests'],
  'internal-header': [403, 'internal_header'],
  unauthorized: [401, 'unauthorized'],
  'not-found': [404, 'not_found'],
  'method-not-allowed': [405, 'method_not_allowed'],
  forbidden: [403, 'forbidden'],
  'rate-limited': [429, 'rate_limited'],
  'unsupported-media-type': [415, 'unsupported_media_type'],
  'payload-too-large': [413, 'payload_too_large'],
  'invalid-id': [400, 'invalid_id'],
  'invalid-query': [400, 'invalid_request'],
  'invalid-json': [400, 'invalid_json'],
  'trailing-data': [400, 'multiple_json_values'],
  'invalid-body': [400, 'invalid_json'],
  'key-required': [400, 'idempotency_key_required'],
  'key-mismatch': [400, 'idempotency_key_mismatch'],
  'upgrade-required': [426, 'upgrade_required'],
  unavailable: [503, 'unavailable'],
  'internal-error': [500, 'internal_error'],
};

const HEADERS: Partial<Record<FaultKind, Reply['headers']>> = {
  unauthorized: { 'www-authenticate': 'Bearer' },
  'upgrade-required': { upgrade: 'websocket', 'sec-websocket-version': '13' },
};

/** Writes faults in the flat envelope. A code that the endpoint declares takes precedence over the code of the kind. */
export function flatRefusals(own: Partial<FlatCodes> = {}): (fault: Fault) => Reply {
  const codes = { ...CODES, ...own };
  const cached = new Map<FaultKind, Reply>();
  const plain = (kind: FaultKind): Reply => {
    const known = cached.get(kind);
    if (known !== undefined) return known;
    const reply = withHeaders(kind, errorReply(...codes[kind]));
    cached.set(kind, reply);
    return reply;
  };
  return ({ kind: original, code, spec, methods }) => {
    const kind = original === 'unavailable' && spec?.neverUnavailable === true ? 'internal-error' : original;
    const [status, defaultCode] = codes[kind];
    const message = kind === 'unauthorized' ? spec?.unauthorizedMessage : undefined;
    if (code === undefined && message === undefined && methods === undefined) return plain(kind);
    const reply = withHeaders(kind, errorReply(status, code ?? defaultCode, message));
    return methods === undefined ? reply : { ...reply, headers: { allow: methods.join(', ') } };
  };
}

function withHeaders(kind: FaultKind, reply: Reply): Reply {
  const headers = HEADERS[kind];
  return headers === undefined ? reply : { ...reply, headers };
}
