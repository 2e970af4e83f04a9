import { describe, expect, it } from '@jest/globals';
import { SchemaSet } from '#libs/testing/interface/schema-set.js';
import { CODE_MEANINGS } from '#libs/auction/api/documents/code-meanings.js';
import { http, specs } from './described-interface.js';
import { openObjects, silentFields, silentHeaders, silentParameters } from './described-parts.js';
import { lintFaults } from './lint.js';
import { codeIn, rowsWith } from '../docs/markdown.js';

const operations = Object.entries(http.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
);

describe('the OpenAPI document', () => {
  it('is valid, by the strictest rules of a public linter', () => {
    expect(lintFaults(http)).toEqual([]);
  }, 30_000);

  it('has the version and the label of the contract', () => {
    expect([http.openapi, http.info.version]).toEqual(['3.1.0', '1.0.0-pilot']);
  });

  it('has every endpoint of the gateway with its answers', () => {
    expect(operations.map(({ operation }) => operation.operationId).sort()).toEqual(
      specs.map(({ operationId }) => operationId).sort(),
    );
    for (const { operation } of operations) {
      const answered = Object.keys(operation.responses).filter((status) => Number(status) < 300);
      expect([operation.operationId, answered.length > 0]).toEqual([operation.operationId, true]);
      expect(operation.summary).not.toBe(operation.operationId);
    }
  });

  it('describes every field and every parameter', () => {
    expect(silentFields(http).filter((field) => !/^(Error|Rejection)\./.test(field))).toEqual([]);
    expect(silentParameters(http)).toEqual([]);
  });

  it('describes every header', () => {
    expect(silentHeaders(http)).toEqual([]);
  });

  it('allows no undeclared fields in any object', () => {
    expect(openObjects(http)).toEqual([]);
  });

  it('has examples that match its schemas', () => {
    const schemas = new SchemaSet(http.components.schemas);
    const faults = operations.flatMap(({ operation }) => {
      const contents = [
        operation.requestBody,
        ...Object.values(operation.responses),
        ...Object.values(http.components.responses),
      ];
      return contents
        .flatMap((part) =>
          Object.values((part !== undefined && 'content' in part ? part.content : undefined) ?? {}),
        )
        .flatMap(({ schema, examples = {} }) =>
          Object.values(examples).flatMap(({ value }) => schemas.faults(schema, value)),
        )
        .map((fault) => `${operation.operationId}: ${fault}`);
    });
    expect([...new Set(faults)]).toEqual([]);
  });
});

describe('the codes', () => {
  it('have one meaning each, the same as in the catalogue of errors', () => {
    const catalogue = rowsWith('docs/reference/errors.md', 'Status', 'Code').flatMap(({ Code: cell = '' }) =>
      codeIn(cell),
    );
    expect(Object.keys(CODE_MEANINGS).sort()).toEqual([...new Set(catalogue)].sort());
  });
});
