import type { IncomingMessage } from 'node:http';
import { ids, query } from '#libs/edge/checks/parts.js';
import { size } from '#libs/edge/checks/content.js';
import { framing } from '#libs/edge/checks/head.js';
import { path, route } from '#libs/edge/checks/route.js';
import type { BodyRules, RateWindow } from '#libs/edge/dialect/dialect-rules.js';
import type { Dialect, Headers } from '#libs/edge/dialect/dialect.js';
import type { Fault, FaultKind } from '#libs/edge/dialect/fault.js';
import { entityTag, payloadOf, type Reply } from '#libs/edge/reply/reply.js';
import type { ClientAddress, DataCallers } from './callers.js';
import {
  body,
  credentials,
  domain,
  freshness,
  invite,
  limit,
  method,
  OVER_LIMIT,
  scope,
  type CallCounter,
  type FreshnessNotes,
} from './checks.js';
import { refusal, RefusedRead } from './refusals.js';
import { shownIn, type DataReply } from './replies.js';
import { unreadable } from './unreadable.js';

export const DATA_VERSION = '1';

/** Numbers keep their text; null means absent. */
export const BODY_RULES: BodyRules = {
  numbers: 'raw',
  nulls: 'absent',
  maxDepth: 64,
  maxBytes: 1_048_576,
  unknownFields: 'ignored',
  absent: 'empty-object',
};

/** What the checks need. */
export interface DataDialectPorts {
  readonly callers: DataCallers;
  readonly addressOf: ClientAddress;
  readonly counter: CallCounter;
  readonly freshness: FreshnessNotes & {
    headersFor(reply: DataReply, request: IncomingMessage): Headers;
  };
}

const REFUSALS: Readonly<Record<FaultKind, readonly [status: number, detail: string]>> = {
  'malformed-request': [400, 'Malformed request'],
  'unsupported-transfer-coding': [501, 'Unsupported transfer coding'],
  'headers-too-large': [431, 'Request headers too large'],
  'request-timeout': [408, 'Request timeout'],
  'too-many-pipelined': [503, 'Too many requests in line on this connection'],
  'internal-header': [403, 'Forbidden'],
  unauthorized: [401, 'Authentication required (JWT token / API key / admin secret)'],
  'not-found': [404, 'Not Found'],
  'method-not-allowed': [405, 'Method Not Allowed'],
  forbidden: [403, 'Forbidden'],
  'rate-limited': [429, 'Too many authentication failures'],
  'unsupported-media-type': [415, 'Unsupported media type'],
  'payload-too-large': [413, 'Request body too large'],
  'invalid-id': [422, ''],
  'invalid-query': [422, ''],
  'invalid-json': [422, ''],
  'trailing-data': [422, ''],
  'invalid-body': [422, ''],
  'key-required': [400, 'Bad request'],
  'key-mismatch': [400, 'Bad request'],
  'upgrade-required': [426, 'Upgrade Required'],
  unavailable: [503, 'Service temporarily unavailable'],
  'internal-error': [500, 'An internal error occurred. Please try again later.'],
};

/** The order of the checks is part of the contract: the first that fails answers. */
export function dataDialect({ callers, addressOf, counter, freshness: notes }: DataDialectPorts): Dialect {
  return {
    checks: [
      ...[framing, route, path, method(callers), size],
      ...[credentials(callers, addressOf), invite, scope, limit(counter, addressOf)],
      ...[ids, query, body, domain, freshness(notes)],
    ],
    internalHeaders: [],
    body: BODY_RULES,
    unknownParameters: 'ignored',
    decodesPaths: true,
    requestId: { header: 'x-request-id', pattern: /^[A-Za-z0-9._:-]{1,128}$/ },
    replyHeaders: { 'x-data-version': DATA_VERSION, 'cache-control': 'no-store' },
    refuse: refused,
    rateLimitHeaders,
    codeOf: ({ status }) => (status < 400 ? undefined : `HTTP_${status}`),
    thrownReply: (error) => (error instanceof RefusedRead ? error.reply : undefined),
    complete: (reply, request) => tagged(withFreshness(reply, request, notes), request),
  };
}

function refused(fault: Fault): Reply {
  const { kind, message, code, methods } = fault;
  const [status, usual] = REFUSALS[kind];
  switch (kind) {
    case 'invalid-id':
      return unreadable(fault, 'path');
    case 'invalid-query':
      return unreadable(fault, 'query');
    case 'invalid-json':
    case 'trailing-data':
    case 'invalid-body':
      return unreadable(fault, 'body');
    case 'method-not-allowed':
      return refusal(status, usual, { allow: (methods ?? []).join(', ') });
    case 'unauthorized':
      return refusal(status, message ?? usual, { 'www-authenticate': 'Bearer' });
    case 'rate-limited':
      return code === OVER_LIMIT ? { status, body: { error: message } } : refusal(status, message ?? usual);
    default:
      return refusal(status, message ?? usual);
  }
}

function rateLimitHeaders({ limit: most, remaining, resetsAt, retryAfter }: RateWindow): Headers {
  return {
    'x-ratelimit-limit': String(most),
    'x-ratelimit-remaining': String(remaining),
    'x-ratelimit-reset': String(resetsAt),
    ...(retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) }),
  };
}

function withFreshness(reply: Reply, request: IncomingMessage, notes: DataDialectPorts['freshness']): Reply {
  const shows = shownIn(reply);
  if (shows === undefined || shows.size === 0) return reply;
  return { ...reply, headers: { ...notes.headersFor({ ...reply, shows }, request), ...reply.headers } };
}

/** A reply that may be cached gets an entity tag, so that it can be revalidated. */
function tagged(reply: Reply, { method: method }: IncomingMessage): Reply {
  const isRead = method === 'GET' || method === 'HEAD';
  const cache = reply.headers?.['cache-control'] ?? 'no-store';
  if (!isRead || reply.status !== 200 || cache.includes('no-store')) return reply;
  if (reply.headers?.etag !== undefined) return reply;
  const payload = payloadOf(reply);
  if (payload === undefined) return reply;
  return { ...reply, body: payload, headers: { ...reply.headers, etag: `W/${entityTag(payload)}` } };
}
