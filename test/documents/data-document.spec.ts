import { describe, expect, it } from '@jest/globals';
import {
  companionDocument,
  companionSpecs,
  dataDocument,
  dataSpecs,
} from '#libs/data/api/documents/data-document.js';
import { DETAIL_MEANINGS } from '#libs/data/api/documents/data-meanings.js';
import {
  openObjects,
  operationsOf,
  silentFields,
  silentHeaders,
  silentParameters,
} from './described-parts.js';
import { lintFaults } from './lint.js';

describe.each([
  ['market data', dataDocument(), dataSpecs()],
  ['the companion', companionDocument(), companionSpecs()],
])('the OpenAPI document of %s', (_name, http, specs) => {
  it('is valid, by the strictest rules of a linter that others use', () => {
    // A literal segment beats a name: nothing is ambiguous.
    expect(lintFaults(http, { 'no-ambiguous-paths': 'off' })).toEqual([]);
  }, 30_000);

  it('is of the version that every reply names', () => {
    expect([http.openapi, http.info.version]).toEqual(['3.1.0', '1']);
  });

  it('says of each operation what it is for, and what it answers', () => {
    expect(
      operationsOf(http)
        .map(({ operationId }) => operationId)
        .sort(),
    ).toEqual(specs.map(({ operationId }) => operationId).sort());
    for (const { operationId, summary, responses } of operationsOf(http)) {
      const hasAnswer = Object.keys(responses).some((status) => Number(status) < 300 || status === '410');
      expect([operationId, summary === operationId, hasAnswer]).toEqual([operationId, false, true]);
    }
  });

  it('says of every refusal what it means', () => {
    const declared = specs.flatMap(({ statuses = {} }) => Object.values(statuses).flat());
    expect([...new Set(declared)].filter((detail) => DETAIL_MEANINGS[detail] === undefined)).toEqual([]);
  });

  it('describes every field, every parameter and every header', () => {
    const refusals = /^(Detail|OverLimit|Unreadable)\./;
    expect([...new Set(silentFields(http).filter((field) => !refusals.test(field)))]).toEqual([]);
    expect(silentParameters(http)).toEqual([]);
    expect(silentHeaders(http)).toEqual([]);
  });

  it('leaves no object open to fields that it does not name', () => {
    expect(openObjects(http)).toEqual([]);
  });
});
