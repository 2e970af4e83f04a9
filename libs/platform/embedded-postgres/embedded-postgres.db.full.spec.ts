import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { startEmbeddedPostgres, type EmbeddedPostgres } from './embedded-postgres.js';

let base: string;
let folder: string;
let running: EmbeddedPostgres[];

beforeEach(() => {
  base = mkdtempSync(path.join(tmpdir(), 'sotto-embedded-'));
  chmodSync(base, 0o711);
  folder = path.join(base, 'postgres');
  running = [];
});

afterEach(async () => {
  for (const server of running) await server.stop('immediate');
  rmSync(base, { recursive: true, force: true });
});

async function start(inFolder = folder, port?: number): Promise<EmbeddedPostgres> {
  const options = {
    folder: inFolder,
    logFile: path.join(base, 'postgres.log'),
    ...(port === undefined ? {} : { port }),
  };
  const server = await startEmbeddedPostgres(options);
  running.push(server);
  return server;
}

async function query<T extends object>(url: string, text: string): Promise<T[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<T>(text)).rows;
  } finally {
    await client.end();
  }
}

function isAlive(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

async function untilGone(pid: number): Promise<void> {
  for (let waited = 0; waited < 10_000 && isAlive(pid); waited += 50) await sleep(50);
  expect(isAlive(pid)).toBe(false);
}

describe('the embedded server', () => {
  it('is durable and listens on loopback only; its role owns its database and may create more', async () => {
    const { url } = await start();
    for (const [name, value] of [
      ['fsync', 'on'],
      ['synchronous_commit', 'on'],
      ['full_page_writes', 'on'],
    ]) {
      expect(await query(url, `select current_setting('${name}') as value`)).toEqual([{ value }]);
    }
    expect(await query(url, `select current_setting('listen_addresses') as a`)).toEqual([{ a: '127.0.0.1' }]);
    expect(
      await query(url, 'select rolcreatedb, rolsuper from pg_roles where rolname = current_user'),
    ).toEqual([{ rolcreatedb: true, rolsuper: false }]);
    await query(url, 'create database another');
    await query(url, 'create schema mine');
    const stranger = new URL(url);
    stranger.password = 'guess';
    await expect(query(stranger.href, 'select 1')).rejects.toMatchObject({ code: '28P01' });
  }, 30_000);

  it('makes its passwords readable only by the owner, and keeps its data between starts', async () => {
    const first = await start();
    await query(first.url, 'create table kept as select 7 as n');
    await first.stop();
    expect(await first.exited).toBe(0);
    expect(statSync(path.join(folder, 'credentials.json')).mode & 0o777).toBe(0o600);
    const second = await start(folder, first.port);
    expect(second.url).toBe(first.url);
    expect(await query(second.url, 'select n from kept')).toEqual([{ n: 7 }]);
  }, 30_000);

  it('recovers all commits after it was killed, and replaces an orphaned server', async () => {
    const first = await start();
    await query(first.url, 'create table kept as select 7 as n');
    process.kill(first.pid, 'SIGKILL');
    expect(await first.exited).toBe(137);
    const second = await start();
    expect(await query(second.url, 'select n from kept')).toEqual([{ n: 7 }]);
    const third = await start();
    await untilGone(second.pid);
    expect(await query(third.url, 'select n from kept')).toEqual([{ n: 7 }]);
  }, 40_000);

  it('starts again after an interrupted initialisation', async () => {
    mkdirSync(path.join(folder, 'data.new', 'base'), { recursive: true });
    const { url } = await start();
    expect(await query(url, 'select 1 as one')).toEqual([{ one: 1 }]);
    expect(existsSync(path.join(folder, 'data.new'))).toBe(false);
  }, 30_000);

  it('ends when the process that started it is killed', async () => {
    const script = `
      import { startEmbeddedPostgres } from '#libs/platform/embedded-postgres/embedded-postgres.js';
      const server = await startEmbeddedPostgres({ folder: ${JSON.stringify(folder)}, logFile: '${base}/postgres.log' });
      console.log(server.pid);
      setInterval(() => undefined, 1000);`;
    const parent = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [line] = (await once(parent.stdout, 'data')) as [Buffer];
    const pid = Number(line.toString());
    expect(isAlive(pid)).toBe(true);
    parent.kill('SIGKILL');
    await untilGone(pid);
    expect(existsSync(path.join(folder, 'data', 'postmaster.pid'))).toBe(false);
  }, 30_000);

  it('reports the reason if it cannot start', async () => {
    const first = await start();
    const taken = start(path.join(base, 'other'), first.port);
    await expect(taken).rejects.toThrow(/refuses to start in .*other.* \(log: .*postgres\.log\)/);
  }, 30_000);
});

if (process.getuid?.() === 0) {
  it('started by root uses another folder if its user cannot enter the requested one', async () => {
    chmodSync(base, 0o700);
    const { url } = await start();
    expect(await query(url, 'select 1 as one')).toEqual([{ one: 1 }]);
    expect(lstatSync(folder).isSymbolicLink()).toBe(true);
    const elsewhere = readlinkSync(folder);
    await running.pop()?.stop();
    expect((await start()).url.split('@')[0]).toBe(url.split('@')[0]);
    await running.pop()?.stop();
    rmSync(elsewhere, { recursive: true });
    await expect(start()).rejects.toThrow(`data folder ${elsewhere} is missing`);
  }, 30_000);
}
