import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type ToolOutcome, ROOT, runTool } from './tool.js';

// Put together from parts, so that this file itself passes.
const UNFINISHED = ['TO', 'DO'].join('');
const ALONE = ['it', 'only'].join('.');
const LEFT_OUT = ['describe', 'skip'].join('.');
const OLD_WORD = ['no', 'body'].join('');
const AT_THE_BACK = ['be', 'hind'].join('');
const SILENCED = ['// eslint', 'disable-next-line eqeqeq'].join('-');

describe('house rules', () => {
  let tree: string;

  beforeEach(() => {
    tree = mkdtempSync(join(tmpdir(), 'house-'));
  });

  afterEach(() => {
    rmSync(tree, { recursive: true });
  });

  function judge(files: Readonly<Record<string, string>>): Promise<ToolOutcome> {
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(tree, path)), { recursive: true });
      writeFileSync(join(tree, path), text);
    }
    return runTool('tools/house-rules.mjs', [tree], ROOT);
  }

  it.each([
    ['a folder that says nothing', 'libs/common/money.ts', '', /"common" says nothing/],
    ['a file that says nothing', 'libs/edge/utils.ts', '', /"utils" says nothing/],
    ['a file whose end says nothing', 'libs/edge/date-helpers.spec.ts', '', /"date-helpers" says nothing/],
    ['a barrel', 'libs/edge/index.ts', '', /no barrels/],
    ['a src folder', 'libs/edge/src/body.ts', '', /no src folders/],
    ['unfinished work', 'docs/plan.md', `one\n${UNFINISHED}: two\n`, /plan\.md:2: finish it/],
    ['a test run alone', 'libs/edge/body.spec.ts', `${ALONE}('x', () => {});\n`, /every test runs/],
    ['a test left out', 'libs/edge/body.spec.ts', `${LEFT_OUT}('x', () => {});\n`, /every test runs/],
    [
      'an old word in a comment',
      'libs/edge/body.ts',
      `// ${OLD_WORD} reads it\nx;\n`,
      /body\.ts:1: "\w+": name/,
    ],
    [
      'an old word in a text',
      'libs/edge/body.ts',
      `const x = '${OLD_WORD} reads it';\n`,
      /body\.ts:1: "\w+"/,
    ],
    ['an old word in a document', 'docs/plan.md', `one\n${OLD_WORD} reads it\n`, /plan\.md:2: "\w+"/],
    [
      'a comment of four lines',
      'libs/edge/body.ts',
      '/**\n * a\n * b\n * c\n * d\n */\nx;\n',
      /:6: .* three lines/,
    ],
    ['a silenced rule without a reason', 'libs/edge/body.ts', `${SILENCED}\n`, /say why/],
    ['a file of 501 lines', 'libs/edge/body.ts', 'x;\n'.repeat(501), /501 lines, the limit is 500/],
  ])('refuse %s', async (_what, path, text, fault) => {
    const { exitCode, stderr } = await judge({ [path]: text });
    expect(stderr).toMatch(fault);
    expect(exitCode).toBe(1);
  });

  it('refuse two exported types of one name', async () => {
    const { exitCode, stderr } = await runTool('tools/house-rules.mjs', ['test/house/fixtures'], ROOT);
    expect(stderr).toBe(
      'libs/edge/reply.ts, libs/link/reply.ts: the type Reply is exported more than once\n',
    );
    expect(exitCode).toBe(1);
  });

  it('accept a type of a spec that has the name of another', async () => {
    const spec = {
      'libs/edge/reply.spec.ts': 'export class Answer {}\n',
      'libs/edge/answer.ts': 'export class Answer {}\n',
    };
    expect((await judge(spec)).stderr).toBe('');
  });

  it('accept names of one word, comments of three lines, and a process behind a proxy', async () => {
    const text = `// one\n// two\n// three, ${AT_THE_BACK} a proxy\nconst ${OLD_WORD} = '${OLD_WORD}';\n`;
    expect((await judge({ 'libs/edge/body.ts': text })).stderr).toBe('');
  });

  it('accept ordinary files, and a silenced rule with its reason', async () => {
    const reason = `${SILENCED} -- the driver compares loosely too\n`;
    const { exitCode, stderr } = await judge({
      'libs/edge/body.ts': reason,
      'libs/edge/commonplace.ts': 'x;\n',
    });
    expect(stderr).toBe('');
    expect(exitCode).toBe(0);
  });

  it('warn when files grow, and say by how much', async () => {
    const { exitCode, stdout } = await judge({ 'libs/edge/body.ts': 'x;\n'.repeat(300) });
    expect(stdout).toContain('warning: fileMedian is 300, it should stay under 80');
    expect(stdout).toContain('warning: fileNinetieth is 300, it should stay under 250');
    expect(exitCode).toBe(0);
  });
});
