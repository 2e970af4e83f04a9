import { describe, expect, it } from '@jest/globals';
import { runTool } from '#libs/testing/cluster/tool-run.js';

/** A call of each program that says something twice, and what that is. Nothing of it is ever begun: there is no database to begin on. */
const TWICE: readonly (readonly [string, string, string])[] = [
  ['apps/operations/ops.js', 'shards --url http://127.0.0.1:1 --url http://127.0.0.1:2', 'url'],
  ['apps/operations/journal.js', 'verify --shard 0 --shard 1', 'shard'],
  ['apps/operations/backup.js', 'create --folder a --folder b', 'folder'],
  ['apps/operations/projection.js', 'rebuild --shard 0 --shard=1', 'shard'],
  ['apps/operations/accounts.js', 'list --output json --output json', 'output'],
  ['apps/operations/kafka.js', '--brokers 1 --brokers 3', 'brokers'],
  ['apps/operations/seed.js', '--open 1 --completed 1 --open 2', 'open'],
  ['apps/operations/ledger.js', 'limit --account a@b --amount-atoms 1 --amount-atoms 2', 'amount-atoms'],
  ['apps/replay/main.js', 'bundle.json --key a.pem --key b.pem', 'key'],
];

describe('an option that is given twice', () => {
  it.each(TWICE)('is refused by %s: %s', async (program, args, option) => {
    const { code, output, errors } = await runTool(program, args.split(' '), { DATA_DIR: '/nowhere' });
    expect([code, output]).toEqual([64, '']);
    expect(errors.split('\n')[0]).toContain(`--${option} is given twice`);
  });
});
