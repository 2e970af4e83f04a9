import { describe, expect, it } from '@jest/globals';
import { object } from '../decoding/decode.js';
import { anyUuid, atoms, enumOf, text } from '../decoding/decode-scalars.js';
import { endpoint, type EndpointSpec } from '../endpoint.js';
import { integerParam, query } from '../decoding/query.js';
import { DEMO_DIALECT } from '../fixtures/demo-listener.js';
import type { About } from './about.js';
import { named } from './components.js';
import { openApiDocument } from './openapi.js';
import type { OpenApi, OpenApiOperation } from './openapi-types.js';
import { anyText, constant, integerFrom, optional, record } from './shapes.js';

const about: About = {
  dialect: DEMO_DIALECT,
  title: 'Boats',
  version: '1',
  description: 'For hire.',
  tags: [
    { name: 'Boats', description: 'All of them.' },
    { name: 'Unused', description: 'Nothing is here.' },
  ],
  tagOf: () => 'Boats',
  codes: { forbidden: 'you may not', boat_taken: 'another guest has it' },
  fields: {
    name: 'What it is called.',
    boatID: 'The boat.',
    length: 'In feet.',
    'Boat.length': 'From bow to stern.',
  },
  explained: new Set([409]),
  sessionScheme: 'session',
  examplesOf: () => undefined,
};
const boat = named('Boat', record({ name: anyText, length: optional(integerFrom(1)) }));

const hire = endpoint({
  operationId: 'hireBoat',
  method: 'POST',
  path: '/v1/boats/:boatID/hire',
  access: 'session',
  capability: 'boat:hire',
  ids: { boatID: anyUuid('invalid_boat_id') },
  body: object({ required: { hours: atoms }, optional: { kind: enumOf(['ROW', 'SAIL']) } }),
  idempotency: 'required',
  summary: 'Hire a boat',
  answers: {
    201: { description: 'It is yours.', body: boat, headers: { 'x-berth': optional(constant('A')) } },
  },
  statuses: { 409: ['boat_taken'] },
});
const list = endpoint({
  operationId: 'listBoats',
  method: 'GET',
  path: '/boats',
  access: 'public',
  query: query('invalid_boats_page', { limit: integerParam(1, 9, 5) }),
  answers: {
    200: { description: 'All.', body: boat, also: { 'text/plain': anyText }, headers: { etag: anyText } },
  },
});

function documentOf(...specs: readonly EndpointSpec[]): OpenApi {
  return openApiDocument(specs, about);
}

function operationOf(spec: EndpointSpec): OpenApiOperation {
  const [methods] = Object.values(documentOf(spec).paths);
  return Object.values(methods ?? {})[0]!;
}

function codesAt(operation: OpenApiOperation, status: number): unknown {
  const response = operation.responses[status];
  if (response === undefined || '$ref' in response) return response;
  return (response.content?.['application/json']?.schema.properties as { error: { enum: unknown } }).error
    .enum;
}

describe('an operation', () => {
  const hired = operationOf(hire);
  const listed = operationOf(list);

  it('follows its declaration', () => {
    expect(Object.keys(documentOf(hire, list).paths)).toEqual(['/v1/boats/{boatID}/hire', '/boats']);
    expect(hired).toMatchObject({ operationId: 'hireBoat', summary: 'Hire a boat', tags: ['Boats'] });
    expect([hired.security, listed.security]).toEqual([[{ session: ['boat:hire'] }], []]);
  });

  it('lists its own codes and those of the edge, and references shared replies', () => {
    expect(codesAt(hired, 400)).toEqual(
      expect.arrayContaining([
        'invalid_boat_id',
        'idempotency_key_required',
        'invalid_json',
        'malformed_request',
      ]),
    );
    expect(codesAt(hired, 403)).toEqual(expect.arrayContaining(['forbidden', 'internal_header']));
    expect(codesAt(hired, 409)).toEqual(['boat_taken']);
    expect(codesAt(hired, 401)).toEqual({ $ref: '#/components/responses/Unauthorized' });
    expect(codesAt(listed, 401)).toBeUndefined();
    expect(codesAt(listed, 403)).toEqual({ $ref: '#/components/responses/InternalHeaders' });
    expect(codesAt(listed, 400)).toContain('invalid_boats_page');
  });

  it('has the descriptions of shapes and of each code', () => {
    expect(hired.responses[409]).toMatchObject({
      description: '- `boat_taken`: another guest has it',
      content: { 'application/json': { schema: { $ref: '#/components/schemas/Rejection' } } },
    });
    expect(hired.responses[403]).toMatchObject({
      content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
    });
  });

  it('accepts its key in the body too, and names the schema of the body', () => {
    const { components } = documentOf(hire);
    expect(hired.requestBody?.content['application/json']?.schema).toEqual({
      $ref: '#/components/schemas/HireBoatRequest',
    });
    expect(components.schemas.HireBoatRequest).toMatchObject({
      properties: {
        hours: { type: 'integer' },
        kind: { enum: ['ROW', 'SAIL'] },
        idempotency_key: { type: 'string' },
      },
      required: ['hours'],
      additionalProperties: false,
    });
  });

  it('lists its parameters and the common ones', () => {
    expect(hired.parameters).toMatchObject([
      { name: 'boatID', in: 'path', required: true, description: 'The boat.', schema: { format: 'uuid' } },
      { $ref: '#/components/parameters/IdempotencyKey' },
      { $ref: '#/components/parameters/RequestId' },
    ]);
    expect(listed.parameters).toMatchObject([
      { name: 'limit', in: 'query', required: false, schema: { minimum: 1, maximum: 9, default: 5 } },
      { $ref: '#/components/parameters/IfNoneMatch' },
      { $ref: '#/components/parameters/RequestId' },
    ]);
  });

  it('answers 304 if it has a tag, and in every declared media type', () => {
    expect(Object.keys(listed.responses)).toContain('304');
    expect(Object.keys(hired.responses)).not.toContain('304');
    const { content } = listed.responses[200] as { readonly content: object };
    expect(Object.keys(content)).toEqual(['application/json', 'text/plain']);
  });

  it('marks each header as required or optional', () => {
    const { headers = {} } = hired.responses[201] as { readonly headers?: Readonly<Record<string, unknown>> };
    expect(headers).toMatchObject({
      'x-berth': { required: false },
      'x-request-id': { $ref: '#/components/headers/x-request-id' },
    });
    expect(documentOf(hire).components.headers['x-request-id']?.required).toBe(true);
  });
});

describe('the document', () => {
  it('defines a schema once and gives its fields their meanings', () => {
    const { components, tags } = documentOf(hire, list);
    expect(components.schemas.Boat).toEqual({
      type: 'object',
      properties: {
        name: { type: 'string', description: 'What it is called.' },
        length: {
          type: 'integer',
          minimum: 1,
          maximum: Number.MAX_SAFE_INTEGER,
          description: 'From bow to stern.',
        },
      },
      required: ['name'],
      additionalProperties: false,
    });
    expect(tags.map(({ name }) => name)).toEqual(['Boats']);
  });

  it('refuses two definitions with one name', () => {
    const other = endpoint({
      ...list,
      operationId: 'other',
      path: '/other',
      answers: { 200: { description: 'Another.', body: named('Boat', text()) } },
    });
    expect(() => documentOf(list, other)).toThrow('Boat');
  });
});
