import { describe, expect, it } from '@jest/globals';
import { object } from '#libs/edge/decoding/decode.js';
import { anyUuid, atoms } from '#libs/edge/decoding/decode-scalars.js';
import { named } from '#libs/edge/documents/components.js';
import { DEMO_DIALECT } from '#libs/edge/fixtures/demo-listener.js';
import { openApiDocument } from '#libs/edge/documents/openapi.js';
import { anyText, oneOf, optional, record, words } from '#libs/edge/documents/shapes.js';
import { endpoint } from '#libs/edge/endpoint.js';
import { integerParam, query } from '#libs/edge/decoding/query.js';
import { HttpCheck } from './http-check.js';
import type { ObservedExchange } from '#libs/client/api-client.js';

const boat = named(
  'Boat',
  oneOf([
    record({ kind: words({ ROW: 'oars', SAIL: 'wind' }), name: anyText }),
    record({ wreck: anyText, cause: optional(anyText) }),
  ]),
);
const get = endpoint({
  operationId: 'getBoat',
  method: 'GET',
  path: '/v1/boats/:boatID',
  access: 'session',
  ids: { boatID: anyUuid('invalid_boat_id') },
  query: query('invalid_query', { depth: integerParam(0, 9, 1) }),
  answers: { 200: { description: 'It.', body: boat, headers: { 'x-tide': optional(anyText) } } },
  statuses: { 404: ['boat_not_found'] },
});
const put = endpoint({
  operationId: 'putBoat',
  method: 'PUT',
  path: '/v1/boats/new',
  access: 'session',
  body: object({ required: { length: atoms } }),
  answers: { 204: { description: 'Done.' } },
});
const document = openApiDocument([get, put], {
  dialect: DEMO_DIALECT,
  title: '',
  version: '',
  description: '',
  tags: [],
  tagOf: () => 'x',
  codes: {},
  fields: {},
  explained: new Set([409]),
  sessionScheme: 's',
  examplesOf: () => undefined,
});

const ID = '0b0a7000-0000-4000-8000-000000000000';
const HEADERS = { 'x-request-id': 'r', 'cache-control': 'no-store', 'content-type': 'application/json' };
const seen: ObservedExchange = {
  method: 'GET',
  path: `/v1/boats/${ID}?depth=3`,
  requestHeaders: { host: 'x' },
  status: 200,
  headers: HEADERS,
  body: '{"kind":"ROW","name":"Ann"}',
};

function faults(differing: Partial<ObservedExchange>): string[] {
  return new HttpCheck(document).faults({ ...seen, ...differing });
}

describe('an exchange', () => {
  it('has no fault if it is as documented', () => {
    expect(faults({})).toEqual([]);
    expect(faults({ status: 404, body: '{"error":"boat_not_found"}' })).toEqual([]);
    expect(faults({ method: 'HEAD', body: '' })).toEqual([]);
    expect(
      faults({ method: 'PUT', path: '/v1/boats/new', requestBody: '{"length":1}', status: 204, body: '' }),
    ).toEqual([]);
    const elsewise = {
      path: '/v1/boats/new',
      status: 405,
      headers: { ...HEADERS, allow: 'PUT' },
      body: '{"error":"method_not_allowed"}',
    };
    expect(faults(elsewise)).toEqual([]);
    expect(faults({ path: '/nowhere', status: 404, body: '{"error":"not_found"}' })).toEqual([]);
    const refused = {
      status: 401,
      headers: { ...HEADERS, 'www-authenticate': 'Bearer' },
      body: '{"error":"unauthorized"}',
    };
    expect(faults(refused)).toEqual([]);
  });

  it.each([
    ['a status', { status: 201 }, 'no such answer'],
    ['a status of no operation', { path: '/nowhere' }, 'no such answer'],
    ['a code', { status: 404, body: '{"error":"boat_sunk"}' }, 'allowedValues'],
    ['a field', { body: '{"kind":"ROW","name":"Ann","length":1}' }, 'additionalProperty'],
    ['a word', { body: '{"kind":"STEAM","name":"Ann"}' }, 'allowedValues'],
    ['a missing field', { body: '{"kind":"ROW"}' }, 'missingProperty'],
    [
      'a message beside a code',
      { status: 404, body: '{"error":"boat_not_found","message":"x"}' },
      'additionalProperty',
    ],
    ['a header', { headers: { ...HEADERS, 'x-crew': '2' } }, 'header x-crew is not documented'],
    [
      'a missing header',
      { headers: { 'content-type': 'application/json', 'cache-control': 'no-store' } },
      'x-request-id is missing',
    ],
    ['the value of a header', { headers: { ...HEADERS, 'cache-control': 'public' } }, 'header cache-control'],
    [
      'a media type',
      { headers: { ...HEADERS, 'content-type': 'text/plain' } },
      'text/plain is not documented',
    ],
    ['a query parameter', { path: `/v1/boats/${ID}?width=3` }, 'query parameter width is not documented'],
    ['the value of a parameter', { path: `/v1/boats/${ID}?depth=10` }, 'query parameter depth'],
    ['a request header', { requestHeaders: { 'x-crew': '2' } }, 'header parameter x-crew is not documented'],
    [
      'a request',
      { method: 'PUT', path: '/v1/boats/new', requestBody: '{"length":-1}', status: 204, body: '' },
      'request: /length',
    ],
  ])('has a fault if the document does not have this: %s', (_, differing, told) => {
    expect(faults(differing).join('\n')).toContain(told);
  });
});

describe('the record of shown parts', () => {
  it('names the missing parts, and parts of all operations once', () => {
    const check = new HttpCheck(document);
    const missing = (): string[] => check.parts.filter((part) => !check.shown.has(part));
    const before = missing();
    expect(before).toEqual(
      expect.arrayContaining([
        'getBoat 200',
        'getBoat header x-tide',
        'getBoat query depth',
        'getBoat path boatID',
        'getBoat 400 invalid_boat_id',
        'getBoat 404 boat_not_found',
        'Boat.kind',
        'Boat.kind=ROW',
        'Boat.kind=SAIL',
        'Boat.cause',
        'PutBoatRequest.length',
        'any 401 unauthorized',
      ]),
    );
    expect(before).not.toContain('getBoat 400 malformed_request');
    check.faults(seen);
    const gone = before.filter((part) => !missing().includes(part));
    expect(gone.sort()).toEqual(
      [
        'Boat.kind',
        'Boat.kind=ROW',
        'Boat.name',
        'getBoat 200',
        'getBoat path boatID',
        'getBoat query depth',
      ].sort(),
    );
  });

  it('adds nothing from an exchange that is not as documented', () => {
    const check = new HttpCheck(document);
    check.faults({ ...seen, body: '{"kind":"SAIL"}' });
    expect(check.shown).not.toContain('Boat.kind=SAIL');
  });
});
