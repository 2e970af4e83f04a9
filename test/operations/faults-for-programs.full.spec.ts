import { describe, expect, it } from '@jest/globals';
import { runTool } from '#libs/testing/cluster/tool-run.js';

/** Nobody listens on port 1. */
const NOWHERE = { DATABASE_URL: 'postgres://somebody:secret@127.0.0.1:1/sotto' };

describe.each([
  ['accounts', 'list'],
  ['ledger', 'show'],
  ['projection', 'lag'],
  ['backup', 'create --folder /nowhere/backup'],
  ['journal', 'verify'],
])('a fault of %s', (tool, call) => {
  const program = `apps/operations/${tool}.js`;

  it.each(['--output json', '--output=json'])('is a document for who wants one: %s', async (option) => {
    const args = `${call} ${option}`.split(' ');
    const { code, output, errors } = await runTool(program, args, NOWHERE);
    expect([code, output]).toEqual([69, '']);
    expect(JSON.parse(errors.trimEnd().split('\n').at(-1) ?? '')).toEqual({
      message: expect.stringContaining('ECONNREFUSED'),
    });
  });

  it('is one also where the call means nothing', async () => {
    const { code, errors } = await runTool(program, ['nonsense', '--output', 'json'], NOWHERE);
    expect(code).toBe(64);
    expect(JSON.parse(errors)).toEqual({ message: expect.stringMatching(/./) });
  });

  it('is a line for people otherwise', async () => {
    const { code, errors } = await runTool(program, call.split(' '), NOWHERE);
    expect([code, errors]).toEqual([69, expect.stringMatching(new RegExp(`^${tool}: .*ECONNREFUSED.*\\n$`))]);
  });
});
