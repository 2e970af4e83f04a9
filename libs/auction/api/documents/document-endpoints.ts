import { documentAnswer, pageAnswer } from '#libs/edge/documents/served.js';
import { endpoint } from '#libs/edge/endpoint.js';

export const openApi = endpoint({
  operationId: 'openApi',
  method: 'GET',
  path: '/openapi.json',
  access: 'public',
  summary: 'This description',
  answers: { 200: documentAnswer('An OpenAPI 3.1.0 document.') },
});

export const asyncApi = endpoint({
  operationId: 'asyncApi',
  method: 'GET',
  path: '/asyncapi.json',
  access: 'public',
  summary: 'The description of the stream',
  answers: { 200: documentAnswer('An AsyncAPI 3.0.0 document.') },
});

export const docs = endpoint({
  operationId: 'docs',
  method: 'GET',
  path: '/docs',
  access: 'public',
  summary: 'Both descriptions as a page to read',
  answers: { 200: pageAnswer },
});
