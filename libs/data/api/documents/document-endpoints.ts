import { anyText, constant } from '#libs/edge/documents/shapes.js';
import { endpoint } from '#libs/edge/endpoint.js';
import { asItCame } from '../reply-shapes.js';

export const PAGE_HEADERS = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
} as const;

/** Both listeners have these endpoints; each describes itself. */
export const dataOpenApi = endpoint({
  operationId: 'openApi',
  method: 'GET',
  path: '/openapi.json',
  access: 'public',
  summary: 'The description of this listener',
  answers: { 200: { description: 'An OpenAPI 3.1.0 document.', body: asItCame } },
});

export const dataDocs = endpoint({
  operationId: 'docs',
  method: 'GET',
  path: '/docs',
  access: 'public',
  summary: 'The description of this listener as a page',
  answers: {
    200: {
      description: 'One page without scripts that loads nothing else.',
      also: { 'text/html': anyText },
      headers: {
        'content-security-policy': anyText,
        'x-content-type-options': constant(PAGE_HEADERS['x-content-type-options']),
        'referrer-policy': constant(PAGE_HEADERS['referrer-policy']),
      },
    },
  },
});
