import { documentAnswer, pageAnswer } from '#libs/edge/documents/served.js';
import { endpoint } from '#libs/edge/endpoint.js';

/** The auctions listener serves these, since the order listener needs credentials for everything except health. */
export const executionOpenApi = endpoint({
  operationId: 'executionOpenApi',
  method: 'GET',
  path: '/execution/openapi.json',
  access: 'public',
  summary: 'The description of order execution',
  answers: { 200: documentAnswer('An OpenAPI 3.1.0 document.') },
});

export const executionAsyncApi = endpoint({
  operationId: 'executionAsyncApi',
  method: 'GET',
  path: '/execution/asyncapi.json',
  access: 'public',
  summary: 'The description of the socket of order execution',
  answers: { 200: documentAnswer('An AsyncAPI 3.0.0 document.') },
});

export const executionDocs = endpoint({
  operationId: 'executionDocs',
  method: 'GET',
  path: '/execution/docs',
  access: 'public',
  summary: 'Both descriptions of order execution as a page to read',
  answers: { 200: pageAnswer },
});
