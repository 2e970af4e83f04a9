import { expect, it } from '@jest/globals';
import { CODE_MEANINGS } from './code-meanings.js';
import { executionDocument } from './http-document.js';
import { executionSpecs } from './interface.js';

const specs = executionSpecs();
const document = executionDocument(specs);

it('has every endpoint once, and every reference in it resolves', () => {
  const ids = specs.map(({ operationId }) => operationId);
  expect(new Set(ids).size).toBe(ids.length);
  const text = JSON.stringify(document);
  for (const id of ids) expect(text).toContain(`"operationId":"${id}"`);
  const parts: unknown = JSON.parse(text);
  for (const [, path = ''] of text.matchAll(/"\$ref":"#\/([^"]+)"/g)) {
    const found = path
      .split('/')
      .reduce<unknown>(
        (at, name) => (typeof at === 'object' && at !== null ? Reflect.get(at, name) : undefined),
        parts,
      );
    expect({ path, isThere: found !== undefined }).toEqual({ path, isThere: true });
  }
});

it('explains every code that an endpoint declares', () => {
  const declared = specs.flatMap(({ statuses = {} }) => Object.values(statuses).flat());
  expect([...new Set(declared)].filter((code) => CODE_MEANINGS[code] === undefined)).toEqual([]);
});
