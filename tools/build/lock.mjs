import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

const POLL_MILLIS = 50;
const GIVE_UP_MILLIS = 60_000;

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

function tryToTake(path) {
  try {
    writeFileSync(path, String(process.pid), { flag: 'wx' });
    return true;
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
    return false;
  }
}

/** Removes the lock of a dead process. An empty file belongs to a process that is writing it. */
function clearIfAbandoned(path) {
  try {
    const holder = Number(readFileSync(path, 'utf8'));
    if (holder > 0 && !isAlive(holder)) rmSync(path, { force: true });
  } catch (error) {
    if (error.code !== 'ENOENT') throw error;
  }
}

/** Runs `action` while no other process of this machine runs one under the same path. */
export async function underLock(path, action) {
  mkdirSync(dirname(path), { recursive: true });
  const deadline = performance.now() + GIVE_UP_MILLIS;
  while (!tryToTake(path)) {
    if (performance.now() > deadline)
      throw new Error(`another build holds ${path}; remove the file if none runs`);
    clearIfAbandoned(path);
    await pause(POLL_MILLIS);
  }
  try {
    return await action();
  } finally {
    rmSync(path, { force: true });
  }
}
