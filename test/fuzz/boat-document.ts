import type { OpenApi } from '#libs/edge/documents/openapi-types.js';

const BOAT = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] };

/** A document of one operation, for the tests of those who draw requests from documents and hold answers against them. */
export const BOATS: OpenApi = {
  openapi: '3.1.0',
  info: { title: 'Boats', version: '1', description: '', license: { name: 'none' } },
  servers: [],
  tags: [],
  security: [],
  paths: {
    '/v1/boats': {
      post: {
        operationId: 'launchBoat',
        summary: '',
        tags: [],
        security: [],
        parameters: [],
        requestBody: { required: true, content: { 'application/json': { schema: BOAT } } },
        responses: {},
      },
    },
  },
  components: { securitySchemes: {}, headers: {}, parameters: {}, responses: {}, schemas: {} },
  'x-any-path': {},
};
