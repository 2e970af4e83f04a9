import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import pg from 'pg';
import { setTimeout as sleep } from 'node:timers/promises';
import { Launches, SETTLE_MS, until } from '#libs/testing/cluster/launches.js';

let launches: Launches;

beforeEach(async () => {
  launches = await Launches.open();
});
afterEach(() => launches.close(), SETTLE_MS);

/** When the stand-in of this name ended. RFC 3339 times compare as text. */
function lastWordsAt(name: string): string {
  const line = launches
    .log(name)
    .split('\n')
    .find((text) => text.includes('last words'));
  return (JSON.parse(line ?? '{}') as { time: string }).time;
}

describe('a cluster', () => {
  it('is described by cluster.json, answers, and stops in order on SIGTERM', async () => {
    const launcher = await launches.launchReady({ GATEWAYS: '2' });
    const { processes, gateway_url: gatewayUrl } = launches.cluster;
    expect(processes.map(({ name }) => name).sort()).toEqual([
      'gateway-0',
      'gateway-1',
      'owner-0',
      'owner-1',
      'owner-2',
      'postgres',
      'projector',
      'settler',
    ]);
    expect(gatewayUrl).toBe(`http://127.0.0.1:${launches.port}`);
    for (const entry of processes) {
      expect((await fetch(entry.health_url)).status).toBe(200);
      expect(await (await fetch(entry.metrics_url)).text()).toContain('event_loop_delay_seconds');
      process.kill(entry.pid, 0);
    }
    expect(processes.filter(({ url }) => url !== undefined)).toHaveLength(2);
    expect(launcher.output).toContain('demo-password');
    expect(launcher.output).not.toContain(new URL(launches.cluster.database_url).password);

    const begun = performance.now();
    launcher.process.kill('SIGTERM');
    expect(await launcher.code).toBe(0);
    expect(performance.now() - begun).toBeLessThan(10_000);
    expect(launches.cluster.ready).toBe(false);
    expect(launches.pids()).toEqual([]);
    const names = ['gateway-1', 'settler', 'projector', 'owner-0'];
    const times = names.map(lastWordsAt);
    expect(times).toEqual([...times].sort());
  }, 40_000);

  it('keeps its data and secrets between starts, and leaves no stale lock when killed', async () => {
    await launches.launchReady();
    const first = {
      url: launches.cluster.database_url,
      secrets: readFileSync(path.join(launches.folder, 'secrets.json'), 'utf8'),
    };
    launches.launched[0]!.process.kill('SIGKILL');
    await launches.launched[0]!.code;
    await launches.launchReady();
    expect(new URL(launches.cluster.database_url).password).toBe(new URL(first.url).password);
    expect(readFileSync(path.join(launches.folder, 'secrets.json'), 'utf8')).toBe(first.secrets);
  }, 60_000);

  it('takes the database lock again after a killed launcher, and after its own connection breaks', async () => {
    await launches.launchReady();
    const url = await launches.anotherDatabase();
    const killed = await launches.launchBeside(url, 0);
    killed.process.kill('SIGKILL');
    const again = await launches.launchBeside(url, 1);
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    const held = `select pid from pg_stat_activity
      where datname = current_database() and application_name = 'sotto-cluster process ${again.process.pid}, port ${launches.portBeside(1)}'`;
    const [first] = (await client.query<{ pid: number }>(held)).rows;
    await client.query('select pg_terminate_backend($1)', [first!.pid]);
    await until(async () => {
      const [row] = (await client.query<{ pid: number }>(held)).rows;
      return row !== undefined && row.pid !== first!.pid;
    });
    await client.end();
    again.process.kill('SIGTERM');
    expect(await again.code).toBe(0);
  }, 60_000);

  it('adds keys that the secrets of an older version lack, and keeps the others', async () => {
    const first = await launches.launchReady();
    first.process.kill('SIGTERM');
    await first.code;
    const file = path.join(launches.folder, 'secrets.json');
    const made = JSON.parse(readFileSync(file, 'utf8')) as Record<string, string>;
    const { stream_key: newer, ...older } = made;
    writeFileSync(file, JSON.stringify(older));
    const second = await launches.launchReady();
    expect(second.output).toContain('secrets.json had no stream_key: made a new one');
    const now = JSON.parse(readFileSync(file, 'utf8')) as Record<string, string>;
    expect(now).toEqual({ ...older, stream_key: expect.stringMatching(/^[0-9a-f]{64}$/) });
    expect(now.stream_key).not.toBe(newer);
  }, 60_000);

  it('can be stopped before its start begins', async () => {
    const first = await launches.launchReady({ STAND_INS: 'owner-1:deaf' });
    first.process.kill('SIGKILL');
    await first.code;
    await until(() => !launches.isReady);
    const begun = performance.now();
    // The second launcher removes the old cluster file, and then waits for leftover processes.
    const second = launches.launch();
    await until(() => !existsSync(launches.clusterPath));
    second.process.kill('SIGTERM');
    expect(await second.code).toBe(0);
    expect(performance.now() - begun).toBeLessThan(2_500);
    expect(second.output).toBe('');
  }, 60_000);

  it('leaves no process when its launcher is killed, even one that ignores it', async () => {
    const launcher = await launches.launchReady({ STAND_INS: 'owner-1:deaf' });
    process.kill(launches.pidOf('projector'), 'SIGSTOP');
    launcher.process.kill('SIGKILL');
    await launcher.code;
    await until(() => !launches.cluster.ready);
    await until(() => launches.pids().length === 0);
  }, 60_000);

  it('stops in order when the npm that started it is killed', async () => {
    const npm = launches.launch({ npm_lifecycle_event: 'start' }, [
      '/bin/sh',
      '-c',
      '"$0" "$@" & echo "launcher $!"; wait',
    ]);
    await until(() => launches.isReady);
    const launcher = Number(/launcher (\d+)/.exec(npm.output)![1]);
    npm.process.kill('SIGKILL');
    try {
      await until(() => !existsSync(`/proc/${launcher}`));
      expect(launches.pids()).toEqual([]);
      expect(launches.log('owner-0')).toContain('last words');
    } finally {
      if (existsSync(`/proc/${launcher}`)) process.kill(launcher, 'SIGKILL');
    }
  }, 60_000);

  it('restarts processes that die, and updates cluster.json', async () => {
    const launcher = await launches.launchReady();
    for (const name of ['owner-2', 'gateway-0', 'postgres']) {
      const pid = launches.pidOf(name);
      const health = launches.entry(name).health_url;
      process.kill(pid, 'SIGKILL');
      await until(() => launches.pidOf(name) !== pid);
      await until(async () => (await fetch(health).catch(() => undefined))?.status === 200);
      expect(launches.cluster.ready).toBe(true);
    }
    launcher.process.kill('SIGINT');
    expect(await launcher.code).toBe(0);
    expect(launches.pids()).toEqual([]);
  }, 60_000);

  it('stops within ten seconds although a process ignores it', async () => {
    const launcher = await launches.launchReady({ STAND_INS: 'gateway-0:deaf,owner-0:deaf' });
    const begun = performance.now();
    launcher.process.kill('SIGHUP');
    expect(await launcher.code).toBe(0);
    expect(performance.now() - begun).toBeLessThan(10_000);
    expect(launches.pids()).toEqual([]);
  }, 60_000);

  it('stops at once at the second Ctrl-C, and also during its start', async () => {
    const launcher = await launches.launchReady({ STAND_INS: 'gateway-0:deaf' });
    launcher.process.kill('SIGINT');
    await sleep(1_000);
    const begun = performance.now();
    launcher.process.kill('SIGINT');
    await launcher.code;
    expect(performance.now() - begun).toBeLessThan(1_500);
    expect(launches.pids()).toEqual([]);

    const again = launches.launch();
    await until(() => launches.pids().length > 1);
    again.process.kill('SIGTERM');
    expect(await again.code).toBe(0);
    expect(launches.pids()).toEqual([]);
  }, 60_000);
});
