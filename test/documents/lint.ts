import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT } from '../docs/markdown.js';

const RULES = {
  // A handshake ends in 101, and operations that no registered venue supports have no 2xx either.
  'operation-2xx-response': 'off',
  // No operation uses the schema of a missing one.
  'no-unused-components': 'off',
};

/** Faults of an OpenAPI document, by the strictest rules of a public linter. */
export function lintFaults(document: object, rules: Readonly<Record<string, string>> = {}): string[] {
  const folder = mkdtempSync(join(tmpdir(), 'sotto-lint-'));
  const config = { extends: ['recommended-strict'], telemetry: 'off', rules: { ...RULES, ...rules } };
  writeFileSync(join(folder, 'openapi.json'), JSON.stringify(document));
  writeFileSync(join(folder, 'redocly.yaml'), JSON.stringify(config));
  const lint = spawnSync(
    process.execPath,
    [join(ROOT, 'node_modules/@redocly/cli/bin/cli.js'), 'lint', 'openapi.json', '--format=json'],
    { cwd: folder, encoding: 'utf8', env: { ...process.env, REDOCLY_TELEMETRY: 'off' } },
  );
  rmSync(folder, { recursive: true });
  const { problems } = JSON.parse(lint.stdout) as { problems: { ruleId: string; message: string }[] };
  const faults = problems.map(({ ruleId, message }) => `${ruleId}: ${message}`);
  return lint.status === 0 || faults.length > 0 ? faults : [`the linter ended with ${lint.status}`];
}
