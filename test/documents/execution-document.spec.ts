import { describe, expect, it } from '@jest/globals';
import { executionDocument } from '#libs/execution/api/documents/http-document.js';
import { executionSpecs } from '#libs/execution/api/documents/interface.js';
import {
  openObjects,
  operationsOf,
  silentFields,
  silentHeaders,
  silentParameters,
} from './described-parts.js';
import { lintFaults } from './lint.js';

const http = executionDocument(executionSpecs());

describe('the OpenAPI document of order execution', () => {
  it('is valid, by the strictest rules of a public linter', () => {
    // A literal segment takes precedence over a parameter, so nothing is ambiguous.
    expect(lintFaults(http, { 'no-ambiguous-paths': 'off' })).toEqual([]);
  }, 30_000);

  it('has the version that every reply names', () => {
    expect([http.openapi, http.info.version]).toEqual(['3.1.0', '2026-11-01']);
  });

  it('describes the purpose of each operation, and the answers of those that registered venues support', () => {
    for (const { operationId, summary, responses } of operationsOf(http)) {
      expect([operationId, summary === operationId]).toEqual([operationId, false]);
      const hasAnswer = Object.keys(responses).some((status) => Number(status) < 300);
      expect([operationId, hasAnswer]).toEqual([operationId, !OF_NO_VENUE.has(operationId)]);
    }
  });

  it('describes every field, every parameter and every header', () => {
    expect(silentFields(http).filter((field) => !/^(Error|Refusal)\./.test(field))).toEqual([]);
    expect(silentParameters(http)).toEqual([]);
    expect(silentHeaders(http)).toEqual([]);
  });

  it('allows no undeclared fields in any object', () => {
    expect(openObjects(http)).toEqual([]);
  });
});

/** Documented but supported by no registered venue; and procedures that do not exist. */
const OF_NO_VENUE: ReadonlySet<string> = new Set([
  ...['splitTokens', 'mergeTokens', 'redeemTokens', 'approveAllowances', 'batchOrders'],
  ...['quoteCombo', 'listComboPositions', 'executeCombo', 'quoteComboCashOut', 'cashOutCombo', 'redeemCombo'],
  ...['getProcedure', 'postProcedure'],
]);
