import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { expect, it, jest } from '@jest/globals';

jest.setTimeout(60_000);

/** The Kafka suites on a machine with neither Java nor an address. */
async function suites(
  env: Readonly<Record<string, string>>,
  suite = 'three-brokers',
): Promise<{ code: number; said: string }> {
  const args = ['node_modules/jest/bin/jest.js', '--selectProjects', 'kafka', '--', `test/kafka/${suite}`];
  const run = spawn(process.execPath, args, {
    env: { ...env, TIER: 'full', PATH: '/nonexistent' },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const [said, [code]] = await Promise.all([text(run.stderr), once(run, 'exit') as Promise<[number]>]);
  return { code, said };
}

it('says clearly that the Kafka suites were skipped', async () => {
  const { code, said } = await suites({ REQUIRE_KAFKA: 'false' });
  expect([code, said]).toEqual([
    0,
    expect.stringContaining('!!! three brokers: skipped, because there is no Kafka'),
  ]);
});

it('fails if they are required, and treats an empty setting as unset', async () => {
  const { code, said } = await suites({ REQUIRE_KAFKA: 'yes', KAFKA_BROKERS: '' }, 'lost-topics');
  expect([code, said]).toEqual([
    1,
    expect.stringContaining('REQUIRE_KAFKA=yes, but Java 17 or newer is not installed'),
  ]);
});
