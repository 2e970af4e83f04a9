import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { startCluster, type OwnedCluster } from '#libs/testing/cluster/cluster.js';

const NAME = 'owner-1';

jest.setTimeout(60_000);

let cluster: OwnedCluster;
let rival: ChildProcess;

beforeAll(async () => {
  cluster = await startCluster();
});

afterAll(async () => {
  rival.kill('SIGKILL');
  await cluster.stop();
});

it('owners end when another has their shard, even if they get no requests', async () => {
  const { pid } = cluster.process(NAME);
  rival = ownerLike(pid);
  const ended = once(rival, 'exit');
  await cluster.restartOf(NAME, pid, 30_000);
  // The restarted owner has taken the shard back, from an owner that the launcher does not know.
  const [code] = (await ended) as [number | null];
  expect(code).toBe(70);
});

/** Another owner of the same shard, as if an operator had started it by mistake. */
function ownerLike(pid: number): ChildProcess {
  const variables = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0').filter(Boolean);
  const env = Object.fromEntries(
    variables.map((variable) => {
      const [name = ''] = variable.split('=', 1);
      return [name, variable.slice(name.length + 1)];
    }),
  );
  const program = path.resolve('dist/apps/owner/main.js');
  return spawn(process.execPath, [program], {
    env: { ...env, INTERNAL_PORT: '0' },
    stdio: ['pipe', 'ignore', 'ignore'],
  });
}
