import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { allMigrations } from '#libs/schema/all-migrations.js';
import { Launches, SETTLE_MS, until } from '#libs/testing/cluster/launches.js';
import { createTestDatabase } from '#libs/testing/database/test-database.js';
import { dropWithRoles } from '#libs/testing/database/role-logins.js';

/** Every write to it fails as on a full disk. */
const FULL = '/dev/full';

let launches: Launches;

beforeEach(async () => {
  launches = await Launches.open();
});
afterEach(() => launches.close(), SETTLE_MS);

it('a start whose database reports a full disk ends with exit code 69 and one line', async () => {
  const database = await createTestDatabase(allMigrations);
  try {
    await database.pool.query(`
      create function identity.no_room() returns trigger language plpgsql as $$
        begin raise exception 'could not extend file: No space left on device' using errcode = 'disk_full'; end $$;
      create trigger no_room before insert on identity.users execute function identity.no_room()`);
    const { code, output } = await wholeLauncher(database.url);
    expect([code, output.match(/^sotto: .*/gm), output]).toEqual([
      69,
      ['sotto: the database cannot work: could not extend file: No space left on device'],
      expect.not.stringMatching(/^\s+at /m),
    ]);
  } finally {
    await dropWithRoles(database);
  }
}, 60_000);

if (!existsSync(FULL)) {
  console.warn(`NOT TESTED: there is no ${FULL}`);
} else {
  describe('on a full disk', () => testsOfAFullDisk());
}

function testsOfAFullDisk(): void {
  it('processes run, stop and restart although their logs cannot be written or opened', async () => {
    const logs = path.join(launches.folder, 'logs');
    mkdirSync(logs);
    for (const name of ['owner-0', 'gateway-0']) symlinkSync(FULL, path.join(logs, `${name}.log`));
    mkdirSync(path.join(logs, 'owner-1.log'));
    const launcher = await launches.launchReady({ STAND_INS: 'owner-0:talkative,gateway-0:talkative' });
    for (const name of ['owner-0', 'owner-1']) {
      const pid = launches.pidOf(name);
      process.kill(pid, 'SIGKILL');
      await until(() => launches.pidOf(name) !== pid);
      await until(
        async () => (await fetch(launches.entry(name).health_url).catch(() => undefined))?.ok === true,
      );
    }
    expect(launcher.output).toMatch(/owner-1: its log cannot be written \(EISDIR/);
    // Log lines that cannot be written must not fill the memory.
    expect(await residentMegabytes('gateway-0')).toBeLessThan(200);
    launcher.process.kill('SIGTERM');
    expect(await launcher.code).toBe(0);
    expect(launches.pids()).toEqual([]);
  }, 60_000);

  it('the cluster file is removed when it cannot be updated, and is written again once there is room', async () => {
    await launches.launchReady();
    const pid = launches.pidOf('owner-0');
    symlinkSync(FULL, `${launches.clusterPath}.new`);
    process.kill(pid, 'SIGKILL');
    await until(() => !existsSync(launches.clusterPath));
    await until(() => launches.isReady && launches.pidOf('owner-0') !== pid);
  }, 60_000);

  it('the cluster file is removed when the launcher is killed and the file cannot be updated', async () => {
    const launcher = await launches.launchReady();
    symlinkSync(FULL, `${launches.clusterPath}.over`);
    launcher.process.kill('SIGKILL');
    await until(() => !existsSync(launches.clusterPath));
  }, 60_000);
}

async function residentMegabytes(name: string): Promise<number> {
  const metrics = await (await fetch(launches.entry(name).metrics_url)).text();
  const [, bytes] = /^process_resident_memory_bytes\S* (\S+)$/m.exec(metrics) ?? [];
  return Number(bytes) / 1_048_576;
}

/** With the real seed and roles. Other tests use stand-ins for them. */
async function wholeLauncher(
  url: string,
): Promise<{ readonly code: number | null; readonly output: string }> {
  const { folder, port } = launches;
  const child = spawn(process.execPath, [path.resolve('dist/apps/launcher/main.js')], {
    env: { PATH: process.env.PATH, DATA_DIR: folder, PORT: String(port), DATABASE_URL: url },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const texts = Promise.all([text(child.stdout), text(child.stderr)]);
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, output: (await texts).join('') };
}
