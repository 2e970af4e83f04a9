import { expect, it } from '@jest/globals';
import type { OpenApi } from '#libs/edge/documents/openapi-types.js';
import type { Promised } from '../../simulator/oracle/promises.js';
import type { AnsweredCommand } from '../load/transcript.js';
import { checkAnswers } from './answers.js';
import { Findings } from './findings.js';

const REFUSED = {
  description: '',
  content: { 'application/json': { schema: { properties: { error: { enum: ['INVALID_TERMS'] } } } } },
};
const DONE = { description: '' };
const responses = { 200: DONE, 201: DONE, 422: { $ref: '#/components/responses/Refused' } };
const post = (operationId: string) => ({
  post: { operationId, summary: '', tags: [], security: [], parameters: [], responses },
});
const DOCUMENT: OpenApi = {
  openapi: '3.1.0',
  info: { title: '', version: '', description: '', license: { name: '' } },
  servers: [],
  tags: [],
  security: [],
  paths: { '/a': post('createAuction'), '/b': post('submitQuote') },
  components: {
    securitySchemes: {},
    headers: {},
    parameters: {},
    responses: { Refused: REFUSED },
    schemas: {},
  },
  'x-any-path': {},
};

function answer(status: number, differing: Partial<Promised> = {}, error?: string): AnsweredCommand {
  const command: Promised = {
    operation: 'SUBMIT',
    account: 'mia',
    auctionId: 'x',
    key: 'k',
    content: '{}',
    ...differing,
  };
  const body = error === undefined ? '{}' : JSON.stringify({ error });
  return { command, status, body, shard: 0, endedAt: 0 };
}

function found(...answered: readonly AnsweredCommand[]): string[] {
  const findings = new Findings();
  checkAnswers(answered, DOCUMENT, findings);
  return findings.violations;
}

it('a status or code that the document does not list for the operation is a violation', () => {
  expect(found(answer(422, {}, 'INVALID_TERMS'))).toEqual([]);
  expect(found(answer(422, {}, 'QUOTE_IS_FINAL'))).toEqual([
    'documented codes only: SUBMIT is answered 422 QUOTE_IS_FINAL: SUBMIT/mia/x/k',
  ]);
  expect(found(answer(422))).toEqual([expect.stringContaining('422 without a code')]);
  expect(found(answer(409, {}, 'INVALID_TERMS'))).toHaveLength(1);
  expect(found(answer(204))).toHaveLength(1);
  expect(found(answer(200, { operation: 'CANCEL' }))).toHaveLength(1);
});

it('a command that was answered as new is not answered as new again', () => {
  expect(found(answer(201), answer(200), answer(200))).toEqual([]);
  expect(found(answer(201), answer(201))).toEqual([
    'a repeat is not answered as new: SUBMIT is answered 201 after 201: SUBMIT/mia/x/k',
  ]);
  expect(found(answer(200), answer(201))).toHaveLength(1);
  expect(
    found(answer(201, { operation: 'CREATE' }), answer(201, { operation: 'CREATE', auctionId: '' })),
  ).toEqual([expect.stringContaining('CREATE is answered 201 after 201')]);
});

it('other keys, accounts and auctions make other commands, and a lost first answer is unknown', () => {
  const others = [{ key: 'l' }, { account: 'max' }, { auctionId: 'y' }, { operation: 'CREATE' as const }];
  expect(found(answer(201), ...others.map((other) => answer(201, other)))).toEqual([]);
  expect(found(answer(200))).toEqual([]);
});
