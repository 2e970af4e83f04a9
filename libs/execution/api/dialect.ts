import { body, ids, query } from '#libs/edge/checks/parts.js';
import type { Check } from '#libs/edge/checks/check.js';
import { contentType, size } from '#libs/edge/checks/content.js';
import { framing, headerCount } from '#libs/edge/checks/head.js';
import { method, path, route } from '#libs/edge/checks/route.js';
import type { BodyRules } from '#libs/edge/dialect/dialect-rules.js';
import type { Dialect } from '#libs/edge/dialect/dialect.js';
import type { Fault, FaultKind } from '#libs/edge/dialect/fault.js';
import type { Reply } from '#libs/edge/reply/reply.js';
import type { CallerGate } from './caller.js';
import { credentialsCheck, scope, sessionOnly } from './credentials-check.js';
import { envelope, errorOnly, refusal } from './refusals.js';

export const API_VERSION = '2026-11-01';

/** Numbers keep their text, null counts as absent, and handlers refuse unknown fields by name. */
export const BODY_RULES: BodyRules = {
  numbers: 'raw',
  nulls: 'absent',
  maxDepth: 64,
  maxBytes: 262_144,
  unknownFields: 'refused',
  absent: 'empty-object',
};

/** The path of calls of unknown procedures. */
export const ANY_PROCEDURE = '/rpc/:procedure';

export const NO_SUCH_PROCEDURE = refusal('RPC_PROCEDURE_NOT_FOUND', 'There is no such procedure');

/** An unknown procedure is an unknown path, with any method and body. */
const procedure: Check = {
  name: 'procedure',
  after: ['path'],
  run({ match }) {
    const [first] = match?.endpoints.values() ?? [];
    return first?.spec.path === ANY_PROCEDURE ? { kind: 'not-found', spec: first.spec } : undefined;
  },
};

/** The only call that refuses malformed bodies in plain text. */
export const AMEND_OPERATION = 'amendOrder';
/** Paths that refuse a missing scope without the envelope. */
export const BARE_SCOPE = /^\/(?:account\/|positions\/|rpc\/|ws$)/;

const BARE: Partial<Record<FaultKind, readonly [number, string]>> = {
  'malformed-request': [400, 'Malformed request'],
  'unsupported-transfer-coding': [501, 'Unsupported transfer coding'],
  'headers-too-large': [431, 'Request headers too large'],
  'request-timeout': [408, 'The request did not arrive in time'],
  'too-many-pipelined': [503, 'Too many requests in line on this connection'],
  'internal-header': [403, 'Forbidden'],
  unauthorized: [401, 'Authentication required'],
  forbidden: [403, 'Forbidden'],
  'method-not-allowed': [405, 'Method not allowed'],
  'rate-limited': [429, 'Too many failed authentications from this address'],
  'unsupported-media-type': [415, 'The body must be JSON, and not encoded'],
  'payload-too-large': [413, 'The body is too large'],
  'upgrade-required': [426, 'Upgrade required'],
};

/** The order of the checks is part of the interface. The first failing check answers. */
export function executionDialect(gate: CallerGate): Dialect {
  return {
    checks: [
      ...[framing, headerCount, route, credentialsCheck(gate), path, procedure, method, sessionOnly, scope],
      ...[ids, query, contentType, size, body],
    ],
    internalHeaders: [],
    body: BODY_RULES,
    unknownParameters: 'ignored',
    requestId: { header: 'x-request-id', pattern: /^[A-Za-z0-9._:-]{1,128}$/ },
    replyHeaders: { 'x-api-version': API_VERSION, 'cache-control': 'no-store' },
    refuse: refused,
    rateLimitHeaders: () => ({}),
    codeOf,
  };
}

function refused(fault: Fault): Reply {
  const { kind, spec, message, methods } = fault;
  switch (kind) {
    case 'invalid-id':
      return invalid(fault, 'VALIDATION_INVALID_ID', 'An id in the path is not of its form');
    case 'invalid-query':
      return invalid(fault, 'VALIDATION_INVALID_PARAMETER', 'A query parameter is wrong or unknown');
    case 'invalid-json':
    case 'trailing-data':
      return brokenBody(fault);
    case 'invalid-body':
      return fault.location?.reason === 'unknown'
        ? invalid(fault, 'VALIDATION_UNKNOWN_FIELD', 'The body has a field that this call does not know')
        : invalid(fault, 'VALIDATION_INVALID_PARAMETER', 'A field of the body is wrong or missing');
    case 'internal-error':
      return refusal('INTERNAL_ERROR', 'Something went wrong on our side; name the request id when you ask');
    case 'not-found':
      return spec?.path === ANY_PROCEDURE ? NO_SUCH_PROCEDURE : errorOnly(404, 'Not found');
    case 'unavailable':
      return message === undefined
        ? envelope(503, { code: 'INTERNAL_ERROR', message: 'A part of the service cannot be reached' })
        : errorOnly(503, message);
    case 'forbidden':
      if (fault.code !== undefined && !BARE_SCOPE.test(spec?.path ?? '')) {
        return refusal('AUTH_INSUFFICIENT_SCOPE', scopeMessage(fault));
      }
      return errorOnly(403, message ?? scopeMessage(fault));
    default: {
      const [status, text] = BARE[kind] ?? [400, 'Bad request'];
      const reply = errorOnly(status, message ?? text);
      return methods === undefined ? reply : { ...reply, headers: { allow: methods.join(', ') } };
    }
  }
}

function scopeMessage({ spec }: Fault): string {
  return spec?.capability === undefined ? 'Forbidden' : `This call needs the scope ${spec.capability}`;
}

function invalid({ code, location }: Fault, usual: string, message: string): Reply {
  const field = location?.path.join('.');
  const own = code ?? usual;
  return field === undefined || field === '' ? refusal(own, message) : refusal(own, message, { field });
}

function brokenBody(fault: Fault): Reply {
  if (fault.location?.reason === 'repeated') {
    return invalid(fault, 'VALIDATION_UNKNOWN_FIELD', 'The body has a field twice');
  }
  const message = 'The body must be one JSON object';
  if (fault.spec?.operationId === AMEND_OPERATION) return plainText(message);
  return refusal('VALIDATION_INVALID_PARAMETER', message);
}

export function plainText(message: string): Reply {
  return { status: 400, body: message, headers: { 'content-type': 'text/plain; charset=utf-8' } };
}

/** The error code of a reply, for traces and documents. */
function codeOf({ status, body }: Pick<Reply, 'status' | 'body'>): string | undefined {
  if (status < 400) return undefined;
  const details: unknown =
    typeof body === 'object' && 'error_details' in body ? body.error_details : undefined;
  const isNamed = typeof details === 'object' && details !== null && 'code' in details;
  return isNamed && typeof details.code === 'string' ? details.code : `HTTP_${status}`;
}
