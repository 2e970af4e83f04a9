import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { isStopped, isThere } from '../installation/families.js';
import { mustBeThere, paused, untilGone, whileStopped } from './struck.js';

let child: ChildProcess;
let pid: number;

beforeEach(async () => {
  child = spawn('sleep', ['60'], { stdio: 'ignore' });
  await once(child, 'spawn');
  pid = child.pid ?? 0;
});
afterEach(() => {
  child.kill('SIGKILL');
});

async function end(): Promise<void> {
  child.kill('SIGKILL');
  await once(child, 'exit');
}

it('a process exists until it has ended', async () => {
  expect(mustBeThere(pid)).toBe(pid);
  await end();
  await untilGone(pid);
  expect(() => mustBeThere(pid)).toThrow('is not there');
  expect(() => mustBeThere(undefined)).toThrow('is not there');
});

it('a pause stops a process, and then continues it', async () => {
  expect(await whileStopped([pid], () => Promise.resolve(isStopped(pid)))).toBe(true);
  expect([isThere(pid), isStopped(pid)]).toEqual([true, false]);
});

it('a pause of a process that has ended fails', async () => {
  await end();
  await expect(paused([pid], 1)).rejects.toThrow('is not there');
});
