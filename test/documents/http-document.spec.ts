import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import type { JsonSchema } from '#libs/edge/decoding/decode.js';
import { SchemaSet } from '#libs/testing/interface/schema-set.js';
import { CODE_MEANINGS } from '#libs/auction/api/documents/code-meanings.js';
import { http, specs } from './described-interface.js';
import { codeIn, ROOT, rowsWith } from '../docs/markdown.js';

const LINT = {
  extends: ['recommended-strict'],
  telemetry: 'off',
  rules: {
    // A handshake ends in 101.
    'operation-2xx-response': 'off',
    // No operation answers that there is none.
    'no-unused-components': 'off',
  },
};

const operations = Object.entries(http.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
);

/** Every field of a schema with its path, however deep it stands. */
function fieldsOf(schema: unknown, at: string): (readonly [string, JsonSchema])[] {
  if (typeof schema !== 'object' || schema === null) return [];
  return Object.entries(schema).flatMap(([name, inner]) => {
    if (name !== 'properties') return fieldsOf(inner, at);
    return Object.entries(inner as Readonly<Record<string, JsonSchema>>).flatMap(([field, described]) => [
      [`${at}.${field}`, described] as const,
      ...fieldsOf(described, `${at}.${field}`),
    ]);
  });
}

describe('the OpenAPI document', () => {
  it('is valid, by the strictest rules of a linter that others use', () => {
    const folder = mkdtempSync(join(tmpdir(), 'sotto-lint-'));
    writeFileSync(join(folder, 'openapi.json'), JSON.stringify(http));
    writeFileSync(join(folder, 'redocly.yaml'), JSON.stringify(LINT));
    const lint = spawnSync(
      process.execPath,
      [join(ROOT, 'node_modules/@redocly/cli/bin/cli.js'), 'lint', 'openapi.json', '--format=json'],
      { cwd: folder, encoding: 'utf8', env: { ...process.env, REDOCLY_TELEMETRY: 'off' } },
    );
    rmSync(folder, { recursive: true });
    const { problems } = JSON.parse(lint.stdout) as { problems: { ruleId: string; message: string }[] };
    expect(problems.map(({ ruleId, message }) => [ruleId, message])).toEqual([]);
    expect(lint.status).toBe(0);
  }, 30_000);

  it('is of the version and under the label that the contract names', () => {
    expect([http.openapi, http.info.version]).toEqual(['3.1.0', '1.0.0-pilot']);
  });

  it('has every endpoint of the gateway, and each says what it answers', () => {
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
    const fields = Object.entries(http.components.schemas).flatMap(([name, schema]) =>
      fieldsOf(schema, name),
    );
    const silent = fields.filter(([, schema]) => schema.description === undefined).map(([field]) => field);
    expect(silent.filter((field) => !/^(Error|Rejection)\./.test(field))).toEqual([]);
    const parameters = operations.flatMap(({ operation }) =>
      operation.parameters.flatMap((parameter) =>
        '$ref' in parameter || parameter.description !== ''
          ? []
          : [`${operation.operationId} ${parameter.name}`],
      ),
    );
    expect(parameters).toEqual([]);
  });

  it('describes every header', () => {
    const silent = operations.flatMap(({ operation }) =>
      Object.values(operation.responses).flatMap((response) =>
        '$ref' in response
          ? []
          : Object.entries(response.headers ?? {}).flatMap(([name, header]) =>
              '$ref' in header || header.description !== '' ? [] : [`${operation.operationId} ${name}`],
            ),
      ),
    );
    expect([...new Set(silent)]).toEqual([]);
  });

  it('leaves no object open to fields that it does not name', () => {
    const open: string[] = [];
    const look = (schema: unknown, at: string): void => {
      if (typeof schema !== 'object' || schema === null) return;
      const { properties, additionalProperties, $ref } = schema as Record<string, unknown>;
      if (properties !== undefined && additionalProperties !== false && $ref === undefined) open.push(at);
      for (const [name, inner] of Object.entries(schema)) look(inner, `${at}/${name}`);
    };
    look(http.components.schemas, '');
    expect(open).toEqual([]);
  });

  it('gives examples that are what it says', () => {
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
  it('have one meaning each, and those of the catalogue of errors', () => {
    const catalogue = rowsWith('docs/errors.md', 'Status', 'Code').flatMap(({ Code: cell = '' }) =>
      codeIn(cell),
    );
    expect(Object.keys(CODE_MEANINGS).sort()).toEqual([...new Set(catalogue)].sort());
  });
});
