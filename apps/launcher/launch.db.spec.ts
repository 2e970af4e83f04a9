import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pickPorts } from '#libs/platform/ports.js';

const SCRIPT = path.resolve('test/launcher/stand-in-launcher.mjs');
const SETTLE_MS = 20_000;

interface ClusterJson {
  ready: boolean;
  gateway_url: string;
  database_url: string;
  processes: {
    name: string;
    kind: string;
    pid: number;
    health_url: string;
    metrics_url: string;
    url?: string;
  }[];
}

interface Launcher {
  readonly process: ChildProcess;
  readonly code: Promise<number | null>;
  output: string;
}

let folder: string;
let port: number;
let launched: Launcher[];

beforeEach(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'sotto-launch-'));
  chmodSync(folder, 0o711);
  port = (await pickPorts(1))[0]!;
  launched = [];
});

afterEach(async () => {
  for (const { process: child, code } of launched) {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
    await code;
  }
  await until(() => pidsOf(folder).length === 0);
  rmSync(folder, { recursive: true, force: true });
}, SETTLE_MS);

function launch(env: Record<string, string> = {}): Launcher {
  const child = spawn(process.execPath, [SCRIPT], {
    env: { PATH: process.env.PATH, DATA_DIR: folder, PORT: String(port), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const launcher: Launcher = {
    process: child,
    code: once(child, 'exit').then(([code]) => code as number | null),
    output: '',
  };
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      launcher.output += chunk.toString();
    });
  }
  launched.push(launcher);
  return launcher;
}

function cluster(): ClusterJson {
  return JSON.parse(readFileSync(path.join(folder, 'cluster.json'), 'utf8')) as ClusterJson;
}

function isReady(): boolean {
  return existsSync(path.join(folder, 'cluster.json')) && cluster().ready;
}

async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = performance.now() + SETTLE_MS;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`still not so: ${condition.toString()}`);
    await sleep(30);
  }
}

async function launchReady(env: Record<string, string> = {}): Promise<Launcher> {
  const launcher = launch(env);
  await until(() => isReady() || launcher.process.exitCode !== null);
  if (launcher.process.exitCode !== null) throw new Error(launcher.output);
  return launcher;
}

/** Whatever names the folder in its arguments or works in it, and every process the cluster file knows. */
function pidsOf(dataFolder: string): number[] {
  const known = existsSync(path.join(dataFolder, 'cluster.json'))
    ? cluster().processes.map(({ pid }) => pid)
    : [];
  const named = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => readProc(name, 'cmdline').includes(dataFolder) || known.includes(Number(name)))
    .filter((name) => !/^State:\s+Z/m.test(readProc(name, 'status')));
  return named.map(Number);
}

function readProc(pid: string, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return '';
  }
}

function pidOf(name: string): number {
  return cluster().processes.find((entry) => entry.name === name)!.pid;
}

/** When the stand-in of this name ended; RFC 3339, so they compare as text. */
function lastWordsAt(name: string): string {
  const log = readFileSync(path.join(folder, 'logs', `${name}.log`), 'utf8');
  const line = log.split('\n').find((text) => text.includes('last words'));
  return (JSON.parse(line ?? '{}') as { time: string }).time;
}

describe('a cluster', () => {
  it('is described by its file, answers, and stops in order on SIGTERM', async () => {
    const launcher = await launchReady({ GATEWAYS: '2' });
    const { processes, gateway_url: gatewayUrl } = cluster();
    expect(processes.map(({ name }) => name).sort()).toEqual([
      'executor',
      'gateway-0',
      'gateway-1',
      'owner-0',
      'owner-1',
      'owner-2',
      'postgres',
      'projector',
    ]);
    expect(gatewayUrl).toBe(`http://127.0.0.1:${port}`);
    for (const entry of processes) {
      expect((await fetch(entry.health_url)).status).toBe(200);
      expect(await (await fetch(entry.metrics_url)).text()).toContain('event_loop_delay_seconds');
      process.kill(entry.pid, 0);
    }
    expect(processes.filter(({ url }) => url !== undefined)).toHaveLength(2);
    expect(launcher.output).toContain('demo-password');
    expect(launcher.output).not.toContain(new URL(cluster().database_url).password);

    const begun = performance.now();
    launcher.process.kill('SIGTERM');
    expect(await launcher.code).toBe(0);
    expect(performance.now() - begun).toBeLessThan(10_000);
    expect(cluster().ready).toBe(false);
    expect(pidsOf(folder)).toEqual([]);
    const names = ['gateway-1', 'executor', 'projector', 'owner-0'];
    const times = names.map(lastWordsAt);
    expect(times).toEqual([...times].sort());
  }, 40_000);

  it('keeps its data and secrets between starts, and is killed and started again without a stale lock', async () => {
    await launchReady();
    const first = {
      url: cluster().database_url,
      secrets: readFileSync(path.join(folder, 'secrets.json'), 'utf8'),
    };
    launched[0]!.process.kill('SIGKILL');
    await launched[0]!.code;
    await launchReady();
    expect(new URL(cluster().database_url).password).toBe(new URL(first.url).password);
    expect(readFileSync(path.join(folder, 'secrets.json'), 'utf8')).toBe(first.secrets);
  }, 60_000);

  it('leaves nothing behind when its launcher is killed, even a process that notices nothing', async () => {
    const launcher = await launchReady({ STAND_INS: 'owner-1:deaf' });
    process.kill(pidOf('projector'), 'SIGSTOP');
    launcher.process.kill('SIGKILL');
    await launcher.code;
    await until(() => !cluster().ready);
    await until(() => pidsOf(folder).length === 0);
  }, 60_000);

  it('starts again what dies, and says so in its file', async () => {
    const launcher = await launchReady();
    for (const name of ['owner-2', 'gateway-0', 'postgres']) {
      const pid = pidOf(name);
      const health = cluster().processes.find((entry) => entry.name === name)!.health_url;
      process.kill(pid, 'SIGKILL');
      await until(() => pidOf(name) !== pid);
      await until(async () => (await fetch(health).catch(() => undefined))?.status === 200);
      expect(cluster().ready).toBe(true);
    }
    launcher.process.kill('SIGINT');
    expect(await launcher.code).toBe(0);
    expect(pidsOf(folder)).toEqual([]);
  }, 60_000);

  it('stops within ten seconds although a process ignores it', async () => {
    const launcher = await launchReady({ STAND_INS: 'gateway-0:deaf,owner-0:deaf' });
    const begun = performance.now();
    launcher.process.kill('SIGHUP');
    expect(await launcher.code).toBe(0);
    expect(performance.now() - begun).toBeLessThan(10_000);
    expect(pidsOf(folder)).toEqual([]);
  }, 60_000);

  it('stops at once at the second Ctrl-C, and when asked in the middle of its start', async () => {
    const launcher = await launchReady({ STAND_INS: 'gateway-0:deaf' });
    launcher.process.kill('SIGINT');
    await sleep(1_000);
    const begun = performance.now();
    launcher.process.kill('SIGINT');
    await launcher.code;
    expect(performance.now() - begun).toBeLessThan(1_500);
    expect(pidsOf(folder)).toEqual([]);

    const again = launch();
    await until(() => pidsOf(folder).length > 1);
    again.process.kill('SIGTERM');
    expect(await again.code).toBe(0);
    expect(pidsOf(folder)).toEqual([]);
  }, 60_000);
});

describe('one clear line, no stack trace,', () => {
  async function refusal(env: Record<string, string> = {}): Promise<[number | null, string[]]> {
    const launcher = launch(env);
    const code = await launcher.code;
    expect(launcher.output).not.toMatch(/^\s+at /m);
    return [code, launcher.output.split('\n').filter((line) => line.startsWith('sotto: '))];
  }

  it('for every wrong setting', async () => {
    const [code, lines] = await refusal({ PORT: '99999', GATEWAYS: 'x', LOAD_ACCOUNTS: 'makers:many' });
    expect(code).toBe(78);
    expect(lines.map((line) => line.split('=')[0])).toEqual([
      'sotto: PORT',
      'sotto: GATEWAYS',
      'sotto: LOAD_ACCOUNTS',
    ]);
    expect(await refusal({ LISTEN_HOST: '0.0.0.0', LIMITS_FACTOR: '5' })).toEqual([
      78,
      [expect.stringContaining('loopback')],
    ]);
  });

  it('for a taken port, before anything is started', async () => {
    const squatter = createServer().listen(port + 1, '127.0.0.1');
    await once(squatter, 'listening');
    const [code, lines] = await refusal({ GATEWAYS: '2' });
    squatter.close();
    expect([code, lines]).toEqual([69, [expect.stringContaining(`127.0.0.1:${port + 1} is taken`)]]);
    expect(readdirSync(folder)).toEqual([]);
  });

  it('for a second start on the same folder', async () => {
    const first = await launchReady();
    const [code, lines] = await refusal({ PORT: String(port + 3) });
    expect([code, lines]).toEqual([
      69,
      [expect.stringContaining(`in use by another start (process ${first.process.pid}`)],
    ]);
    expect(isReady()).toBe(true);
  }, 40_000);

  it('for a damaged data folder', async () => {
    const first = await launchReady();
    first.process.kill('SIGTERM');
    await first.code;
    const versionFile = path.join(folder, 'postgres', 'data', 'PG_VERSION');
    const version = readFileSync(versionFile, 'utf8');
    for (const [content, message] of [
      ['garbage', 'is not a version'],
      ['9\n', 'made by PostgreSQL 9'],
    ] as const) {
      writeFileSync(versionFile, content);
      expect(await refusal()).toEqual([65, [expect.stringContaining(message)]]);
    }
    rmSync(versionFile);
    expect(await refusal()).toEqual([65, [expect.stringContaining('PG_VERSION is missing')]]);
    writeFileSync(versionFile, version);
    rmSync(path.join(folder, 'postgres', 'data', 'global', 'pg_control'));
    expect(await refusal()).toEqual([65, [expect.stringContaining('postgres.log')]]);
    writeFileSync(path.join(folder, 'secrets.json'), '{}');
    expect(await refusal()).toEqual([65, [expect.stringContaining('secrets.json is damaged')]]);
  }, 60_000);

  it('for a data folder that is a file, and for a database that is not there', async () => {
    writeFileSync(path.join(folder, 'file'), '');
    expect(await refusal({ DATA_DIR: path.join(folder, 'file') })).toEqual([
      69,
      [expect.stringContaining('file')],
    ]);
    const [code, lines] = await refusal({ DATABASE_URL: 'postgres://sotto:hunter2@127.0.0.1:1/sotto' });
    expect([code, lines]).toEqual([69, [expect.stringContaining('DATABASE_URL cannot be used')]]);
    expect(lines.join()).not.toContain('hunter2');
  });

  it('for a process that will not start', async () => {
    const [code, lines] = await refusal({ STAND_INS: 'executor:refuses' });
    expect(code).toBe(78);
    expect(lines.join('\n')).toMatch(/executor does not start: .*exit code 78.*executor\.log/);
    expect(lines.join()).toContain('ABSENT is not set');
    expect(pidsOf(folder)).toEqual([]);
  }, 40_000);
});
