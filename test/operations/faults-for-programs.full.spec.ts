import { describe, expect, it } from '@jest/globals';
import { runTool } from '#libs/testing/cluster/tool-run.js';

/** No process listens on port 1. */
const NOWHERE = { DATABASE_URL: 'postgres://somebody:secret@127.0.0.1:1/sotto' };

describe.each([
  ['accounts', 'list'],
  ['ledger', 'show'],
  ['projection', 'lag'],
  ['backup', 'create --folder /nowhere/backup'],
  ['journal', 'verify'],
])('an error of %s', (tool, call) => {
  const program = `apps/cli/main.js ${tool}`;

  it('is a JSON document on request', async () => {
    const args = `${call} --output=json`.split(' ');
    const { code, output, errors } = await runTool(program, args, NOWHERE);
    expect([code, output]).toEqual([69, '']);
    expect(JSON.parse(errors.trimEnd().split('\n').at(-1) ?? '')).toEqual({
      message: expect.stringContaining('ECONNREFUSED'),
    });
  });

  it('is a JSON document for an invalid call, too', async () => {
    const { code, errors } = await runTool(program, ['nonsense', '--output', 'json'], NOWHERE);
    expect(code).toBe(64);
    expect(JSON.parse(errors)).toEqual({ message: expect.stringMatching(/./) });
  });
});

it.each([
  ['apps/cli/main.js ops', 'shards --url http://127.0.0.1:1 --url http://127.0.0.1:2', 'url'],
  ['apps/cli/main.js ledger', 'limit --account a@b --amount-atoms 1 --amount-atoms 2', 'amount-atoms'],
  ['apps/replay/main.js', 'bundle.json --key a.pem --key b.pem', 'key'],
])('an option that is given twice is refused by %s: %s', async (program, args, option) => {
  const { code, output, errors } = await runTool(program, args.split(' '), { DATA_DIR: '/nowhere' });
  expect([code, output]).toEqual([64, '']);
  expect(errors.split('\n')[0]).toContain(`--${option} is given twice`);
});
