import { documentAnswer, pageAnswer } from '#libs/edge/documents/served.js';
import { endpoint } from '#libs/edge/endpoint.js';

/** Of both listeners: each describes itself. */
export const dataOpenApi = endpoint({
  operationId: 'openApi',
  method: 'GET',
  path: '/openapi.json',
  access: 'public',
  summary: 'The description of this listener',
  answers: { 200: documentAnswer('An OpenAPI 3.1.0 document.') },
});

export const dataDocs = endpoint({
  operationId: 'docs',
  method: 'GET',
  path: '/docs',
  access: 'public',
  summary: 'The same as a page to read',
  answers: { 200: pageAnswer },
});
