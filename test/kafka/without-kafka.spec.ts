import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { expect, it, jest } from '@jest/globals';

jest.setTimeout(60_000);

/** The suites of Kafka on a machine that has neither Java nor an address. */
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

it('says loudly that the suites of Kafka were skipped', async () => {
  const { code, said } = await suites({ REQUIRE_KAFKA: 'false' });
  expect([code, said]).toEqual([
    0,
    expect.stringContaining('!!! three brokers: skipped, for there is no Kafka'),
  ]);
});

it('fails where they are required, and takes brokers that are set to nothing for not set', async () => {
  const { code, said } = await suites({ REQUIRE_KAFKA: 'yes', KAFKA_BROKERS: '' }, 'lost-topics');
  expect([code, said]).toEqual([
    1,
    expect.stringContaining('REQUIRE_KAFKA=yes, but Java 17 or newer is not installed'),
  ]);
});
