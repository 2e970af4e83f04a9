import { createHash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { OpenApi } from '#libs/edge/documents/openapi-types.js';
import { mutatedJson } from './mutations.js';
import { HostileRequests, type Drawn } from './requests.js';
import { ATTACKS } from './raw-attacks.js';
import { bytesOf } from './wire.js';

const NAME = { type: 'string', maxLength: 20 };
const SCHEMA = {
  type: 'object',
  properties: { name: NAME, tons: { type: 'integer', maximum: 50 } },
  required: ['name'],
};
const DOCUMENT: OpenApi = {
  openapi: '3.1.0',
  info: { title: 'Boats', version: '1', description: '', license: { name: 'none' } },
  servers: [],
  tags: [],
  security: [],
  paths: {
    '/v1/boats/{boatID}': {
      put: {
        operationId: 'putBoat',
        summary: '',
        tags: [],
        security: [{ session: [] }],
        parameters: [{ name: 'boatID', in: 'path', required: true, description: '', schema: NAME }],
        requestBody: {
          required: true,
          content: { 'application/json': { schema: { $ref: '#/components/schemas/Boat' } } },
        },
        responses: {},
      },
    },
  },
  components: { securitySchemes: {}, headers: {}, parameters: {}, responses: {}, schemas: { Boat: SCHEMA } },
  'x-any-path': {},
};
const TOKEN = `${Buffer.from('{"alg":"RS256"}').toString('base64url')}.e30.c2ln`;
const COUNT = 600;

function drawn(seed: number): Drawn[] {
  const tokens = new Map([['originator-2', TOKEN]]);
  const real = new Map([['boatID', ['Argo']]]);
  const requests = new HostileRequests({ http: DOCUMENT, tokens, real, auctionOf: () => undefined }, seed);
  return Array.from({ length: COUNT }, () => requests.draw());
}

describe('requests of a document', () => {
  it('follow from the seed', () => {
    const sent = (seed: number): string =>
      createHash('sha256')
        .update(Buffer.concat(drawn(seed).map(({ request }) => bytesOf(request))))
        .digest('hex');
    expect(sent(7)).toBe(sent(7));
    expect(sent(7)).not.toBe(sent(8));
  });

  it('are valid in one of six cases, with existing values and an issued token', () => {
    const plain = drawn(1).filter(({ mutations }) => mutations.length === 0);
    expect(plain).toHaveLength(COUNT / 6);
    for (const { request, isStranger, isWellFormed } of plain) {
      expect([request.method, isStranger, isWellFormed]).toEqual(['PUT', false, true]);
      expect(JSON.parse(request.body.toString())).toMatchObject({ name: expect.any(String) });
    }
    expect(plain.filter(({ request }) => request.target === '/v1/boats/Argo').length).toBeGreaterThan(
      COUNT / 10,
    );
  });

  it('are mutated in every available way', () => {
    const names = new Set(drawn(1).flatMap(({ mutations }) => mutations));
    expect([...names].sort()).toEqual(
      [...Object.keys(ATTACKS), 'body', 'content', 'header', 'method', 'path', 'query', 'token'].sort(),
    );
  });

  it("are a stranger's if the token differs in any character", () => {
    const forged = drawn(1).filter(({ mutations }) => mutations.join() === 'token');
    expect(forged.filter(({ isStranger }) => isStranger)).toEqual(forged);
  });
});

it('is wrong in one place: type, bounds, keys, depth, or no longer JSON', () => {
  const good = { name: 'Argo', tons: 50 };
  const texts = fc.sample(mutatedJson(good, SCHEMA), { seed: 1, numRuns: 3_000 }).map(String);
  expect(texts.filter((text) => text === JSON.stringify(good)).length).toBeLessThan(texts.length / 10);
  const looks = [
    ...[/"tons":51\b/, /"tons":null/, /"tons":1E400/, /"name":"x{21}"/, /"name":""/, /^\{"tons":50\}$/],
    ...[/"__proto__":\{/, /"tons":50,"tons":1/, /^\[{3000}/, /^\{"name":"Ar?$/, /\ufffd/],
  ];
  for (const look of looks) expect(texts.find((text) => look.test(text))).toBeDefined();
});
