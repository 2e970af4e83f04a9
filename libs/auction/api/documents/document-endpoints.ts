import type { Answer } from '#libs/edge/documents/answer.js';
import { anyText, constant, type Shape } from '#libs/edge/documents/shapes.js';
import { endpoint } from '#libs/edge/endpoint.js';

export const CACHE_CONTROL = 'public, max-age=300';
const etag: Shape = { describe: () => ({ type: 'string', pattern: '^"[A-Za-z0-9_-]+"$' }) };
const cached = { 'cache-control': constant(CACHE_CONTROL), etag };
const document: Shape = { describe: () => ({ type: 'object' }) };

function json(description: string): Answer {
  return { description, body: document, headers: cached };
}

export const openApi = endpoint({
  operationId: 'openApi',
  method: 'GET',
  path: '/openapi.json',
  access: 'public',
  summary: 'This description',
  answers: { 200: json('An OpenAPI 3.1.0 document.') },
});

export const asyncApi = endpoint({
  operationId: 'asyncApi',
  method: 'GET',
  path: '/asyncapi.json',
  access: 'public',
  summary: 'The description of the stream',
  answers: { 200: json('An AsyncAPI 3.0.0 document.') },
});

export const docs = endpoint({
  operationId: 'docs',
  method: 'GET',
  path: '/docs',
  access: 'public',
  summary: 'Both descriptions as a page to read',
  answers: {
    200: {
      description: 'One page without scripts that loads nothing else.',
      also: { 'text/html': anyText },
      headers: {
        ...cached,
        'content-security-policy': anyText,
        'x-content-type-options': constant('nosniff'),
        'referrer-policy': constant('no-referrer'),
      },
    },
  },
});
