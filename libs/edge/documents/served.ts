import { entityTag, type Reply } from '../reply/reply.js';
import type { Answer } from './answer.js';
import type { DocumentPage } from './page/page.js';
import { anyText, constant, type Shape } from './shapes.js';

const CACHE_CONTROL = 'public, max-age=300';
const etag: Shape = { describe: () => ({ type: 'string', pattern: '^"[A-Za-z0-9_-]+"$' }) };
const CACHED = { 'cache-control': constant(CACHE_CONTROL), etag };
const PAGE = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
} as const;

/** Describes the answer of an endpoint that serves a document. */
export function documentAnswer(description: string): Answer {
  return { description, body: { describe: () => ({ type: 'object' }) }, headers: CACHED };
}

export const pageAnswer: Answer = {
  description: 'A page without scripts that loads nothing else.',
  also: { 'text/html': anyText },
  headers: {
    ...CACHED,
    'content-security-policy': anyText,
    ...Object.fromEntries(Object.entries(PAGE).map(([name, value]) => [name, constant(value)])),
  },
};

/** Call once per document, because it does not change while the process runs. */
export function documentReply(document: object): Reply {
  return cachedReply(JSON.stringify(document));
}

export function pageReply({ html, policy }: DocumentPage): Reply {
  return cachedReply(html, {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': policy,
    ...PAGE,
  });
}

function cachedReply(body: string, headers: Readonly<Record<string, string>> = {}): Reply {
  return {
    status: 200,
    body,
    headers: { 'cache-control': CACHE_CONTROL, etag: entityTag(body), ...headers },
  };
}
