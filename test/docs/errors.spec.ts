import 'reflect-metadata';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { CONTROLLERS } from '#apps/gateway/auction/auction.module.js';
import { AUCTION_DIALECT } from '#libs/auction/api/refusals.js';
import { FAULT_KINDS, type FaultKind } from '#libs/edge/dialect/fault.js';
import type { EndpointSpec } from '#libs/edge/endpoint.js';
import { endpointsOf } from '#libs/edge/endpoint-decorator.js';
import { codeIn, ROOT, rowsWith, textOf } from './markdown.js';

const NOT_OF_THE_PRODUCT = /\.spec\.ts$|\.fixture\.ts$|\/fixtures\/|^libs\/testing\//;

/** `status code`, which both the catalogue and the source have. */
const documented = rowsWith('docs/reference/errors.md', 'Status', 'Code').map(
  ({ Status: status = '', Code: code = '' }) => `${status} ${codeIn(code).join()}`,
);

function sources(): string[] {
  return ['apps', 'libs'].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .map((path) => `${folder}/${path}`)
      .filter((path) => path.endsWith('.ts') && !NOT_OF_THE_PRODUCT.test(path)),
  );
}

/** Answers in the source: by their two factories, or as JSON text. */
function writtenAnswers(text: string): string[] {
  const made = [...text.matchAll(/\b(?:errorReply|fault)\((\d{3}), '(\w+)'/g)];
  const json = [...text.matchAll(/status: (\d{3}), body: '\{"error":"(\w+)"/g)];
  return [...made, ...json].map(([, status, code]) => `${status ?? ''} ${code ?? ''}`);
}

/** The members of a union of string literals. */
function union(path: string, name: string): string[] {
  const declared = new RegExp(`type ${name} =([^;]*);`).exec(textOf(path))?.[1];
  if (declared === undefined) throw new Error(`${path} declares no ${name}`);
  return [...declared.matchAll(/'(\w+)'/g)].map(([, word]) => word ?? '');
}

const endpoints: readonly EndpointSpec[] = endpointsOf(
  CONTROLLERS.map((controller) => Object.create(controller.prototype) as object),
).map(({ spec }) => spec);

function declaredBy({ statuses = {}, ids = {}, query, bodyFault }: EndpointSpec): string[] {
  const told = Object.entries(statuses).flatMap(([status, codes]) =>
    codes.map((code) => `${status} ${code}`),
  );
  const faults = [...Object.values(ids).map(({ fault }) => fault), query?.fault, bodyFault];
  return [...told, ...faults.flatMap((fault) => (fault === undefined ? [] : [`400 ${fault}`]))];
}

/** The auctions count calls by token buckets, and every id names the code for a malformed one. */
const NEVER_WRITTEN: ReadonlySet<FaultKind> = new Set<FaultKind>(['rate-limited', 'invalid-id']);

const ofTheEdge = FAULT_KINDS.filter((kind) => !NEVER_WRITTEN.has(kind)).map((kind) => {
  const reply = AUCTION_DIALECT.refuse({ kind });
  return `${reply.status} ${AUCTION_DIALECT.codeOf(reply) ?? ''}`;
});

const inSource = new Set([
  ...sources().flatMap((path) => writtenAnswers(textOf(path))),
  ...union('libs/base/rejection.ts', 'RejectionCode').map((code) => `422 ${code}`),
  ...union('libs/base/rejection.ts', 'ConflictCode').map((code) => `409 ${code}`),
  ...ofTheEdge,
  ...endpoints.flatMap(declaredBy),
]);

describe('the catalogue of errors', () => {
  it('has every code of the source, and the source every code of the catalogue', () => {
    expect([...documented].sort()).toEqual([...inSource].sort());
  });

  it('names each code once', () => {
    expect(new Set(documented).size).toBe(documented.length);
  });
});

describe("the 503 codes on the operators' page", () => {
  it('are those of the catalogue', () => {
    const explained = rowsWith('docs/operate/starting.md', 'Answer', 'Look at').flatMap(
      ({ Answer: cell = '' }) => codeIn(cell),
    );
    const unavailable = documented.flatMap((entry) => (entry.startsWith('503 ') ? [entry.slice(4)] : []));
    expect(explained.sort()).toEqual(unavailable.sort());
  });
});
