import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { expect, it, jest } from '@jest/globals';

jest.setTimeout(60_000);

/** The suites of Kafka on a machine that has neither Java nor an address. */
async function suites(env: Readonly<Record<string, string>>): Promise<{ code: number; said: string }> {
  const args = [
    'node_modules/jest/bin/jest.js',
    '--selectProjects',
    'kafka',
    '--',
    'test/kafka/three-brokers',
  ];
  const run = spawn(process.execPath, args, {
    env: { ...env, PATH: '/nonexistent' },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const [said, [code]] = await Promise.all([text(run.stderr), once(run, 'exit') as Promise<[number]>]);
  return { code, said };
}

it('says loudly that the suites of Kafka were skipped', async () => {
  const { code, said } = await suites({});
  expect([code, said]).toEqual([
    0,
    expect.stringContaining('!!! three brokers: skipped, for there is no Kafka'),
  ]);
});

it('fails where they are required', async () => {
  const { code, said } = await suites({ REQUIRE_KAFKA: '1' });
  expect([code, said]).toEqual([
    1,
    expect.stringContaining('REQUIRE_KAFKA=1, but Java 17 or newer is not installed'),
  ]);
});
