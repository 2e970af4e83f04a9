import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { ROOT } from './tool.js';

/** The text of a refusal, after its code. Finds all messages that callers see, except the one that the contract specifies. */
const MESSAGE =
  /\b(?:rejected|conflict|fault|errorReply)\(\s*(?:4\d\d,\s*)?[\w']+,\s*(['`])([^'`]+ [^'`]+)\1/g;
/** A sentence may begin with the name of a field or with what is filled in. */
const SENTENCE = /^(?:[A-Z]|[a-z]+_[a-z_]+ |\$\{).*\.$/;

it('every message is a sentence', () => {
  const sources = globSync('{apps,libs}/**/*.ts', { cwd: ROOT }).filter((path) => !path.endsWith('.spec.ts'));
  const messages = sources.flatMap((path) =>
    [...readFileSync(join(ROOT, path), 'utf8').matchAll(MESSAGE)].map(([, , text = '']) => text),
  );
  expect(messages.length).toBeGreaterThan(40);
  expect(messages.filter((message) => !SENTENCE.test(message))).toEqual([]);
});
