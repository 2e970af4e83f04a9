import { beforeAll, describe, expect, it } from '@jest/globals';
import { ESLINT, FIXTURES, ROOT, runTool } from './tool.js';

interface FileReport {
  readonly filePath: string;
  readonly messages: readonly {
    readonly ruleId: string | null;
    readonly message: string;
    readonly line: number;
  }[];
}

const CONFIG = ['--config', `${ROOT}eslint.config.mjs`, '--format', 'json'];

async function lint(args: readonly string[], input = ''): Promise<readonly FileReport[]> {
  const { stdout, stderr } = await runTool(ESLINT, [...CONFIG, ...args], FIXTURES, input);
  expect(stderr).toBe('');
  return JSON.parse(stdout) as FileReport[];
}

/** What stands on the line, and which rule with which advice has to speak up. */
const BANNED: readonly (readonly [line: string, rule: string, advice: RegExp])[] = [
  ['import { EventEmitter }', '@typescript-eslint/consistent-type-imports', /import type/],
  ['import { setTimeout as sleep }', 'no-restricted-imports', /Clock\.after\(\)/],
  ['= Date.now()', 'no-restricted-properties', /Clock port/],
  ['= new Date()', 'no-restricted-syntax', /Clock port/],
  ['= Date();', 'no-restricted-syntax', /Clock port/],
  ['= performance.now()', 'no-restricted-properties', /Clock port.*monotonicNanos/],
  ['= process.hrtime', 'no-restricted-properties', /Clock port.*monotonicNanos/],
  ['= Math.random()', 'no-restricted-properties', /randomness through a port/],
  ['= process.env', 'no-restricted-properties', /parsed configuration/],
  ['  setTimeout(', 'no-restricted-globals', /Clock\.after\(\)/],
  ['  setInterval(', 'no-restricted-globals', /Clock\.after\(\)/],
  ['  sleep(1)', '@typescript-eslint/no-floating-promises', /awaited/],
  ['  switch (side)', '@typescript-eslint/switch-exhaustiveness-check', /SELL/],
  ['function sum(', 'max-params', /Maximum allowed is 6/],
  ['as unknown as', 'no-restricted-syntax', /through unknown/],
  ['export default', 'no-restricted-syntax', /by name/],
];

describe('the bans on ambient time, chance and settings', () => {
  let reports: readonly FileReport[];
  let source: readonly string[];

  beforeAll(async () => {
    reports = await lint(['.']);
    const { readFileSync } = await import('node:fs');
    source = readFileSync(`${FIXTURES}/libs/shard/breaks-the-bans.ts`, 'utf8').split('\n');
  }, 120_000);

  function messagesOf(path: string): FileReport['messages'] {
    return reports.find(({ filePath }) => filePath.endsWith(path))?.messages ?? [];
  }

  it.each(BANNED)('finds "%s" by %s, which says what to use', (text, rule, advice) => {
    const line = source.findIndex((candidate) => candidate.includes(text)) + 1;
    const found = messagesOf('libs/shard/breaks-the-bans.ts').find(
      (message) => message.ruleId === rule && message.line === line,
    );
    expect(found?.message).toMatch(advice);
  });

  it('reports nothing that the table does not expect', () => {
    expect(messagesOf('libs/shard/breaks-the-bans.ts')).toHaveLength(BANNED.length);
  });

  it('finds what a tool of operators says by a console, which is silent about a full disk', () => {
    expect(messagesOf('apps/cli/says.ts').map(({ ruleId, line }) => [ruleId, line])).toEqual([
      ['no-console', 2],
    ]);
  });

  it('lets the adapters of libs/platform and the composition roots do their work', () => {
    expect(messagesOf('libs/platform/time/system-clock.ts')).toEqual([]);
    expect(messagesOf('apps/owner/main.ts')).toEqual([]);
  });
});

describe('the limits on size', () => {
  const stdin = ['--stdin', '--stdin-filename', `${FIXTURES}/libs/shard/loop.ts`];

  it('lets no file have more than 500 lines and no function more than 70', async () => {
    const longFunction = [
      'export function long(): number {',
      ...Array<string>(68).fill(''),
      '  return 1;',
      '}',
    ];
    const longFile = [...longFunction, ...Array<string>(431).fill('')].join('\n');
    const [report] = await lint(stdin, longFile);
    expect(report?.messages.map(({ ruleId }) => ruleId).sort()).toEqual([
      'max-lines',
      'max-lines-per-function',
    ]);
  }, 60_000);

  it('is content with exactly 500 and 70', async () => {
    const fitting = ['export function fits(): number {', ...Array<string>(67).fill(''), '  return 1;', '}'];
    const [report] = await lint(stdin, [...fitting, ...Array<string>(431).fill('')].join('\n'));
    expect(report?.messages).toEqual([]);
  }, 60_000);
});
