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
  it('is valid, by the strictest rules of a public linter', () => {
    // A literal segment takes precedence over a parameter, so nothing is ambiguous.
    expect(lintFaults(http, { 'no-ambiguous-paths': 'off' })).toEqual([]);
  }, 30_000);

  it('has the version that every reply names', () => {
    expect([http.openapi, http.info.version]).toEqual(['3.1.0', '1']);
  });

  it('describes the purpose and the answers of each operation', () => {
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

  it('explains every refusal', () => {
    const declared = specs.flatMap(({ statuses = {} }) => Object.values(statuses).flat());
    expect([...new Set(declared)].filter((detail) => DETAIL_MEANINGS[detail] === undefined)).toEqual([]);
  });

  it('describes every field, every parameter and every header', () => {
    const refusals = /^(Detail|OverLimit|Unreadable)\./;
    expect([...new Set(silentFields(http).filter((field) => !refusals.test(field)))]).toEqual([]);
    expect(silentParameters(http)).toEqual([]);
    expect(silentHeaders(http)).toEqual([]);
  });

  it('allows no undeclared fields in any object', () => {
    expect(openObjects(http)).toEqual([]);
  });
});
