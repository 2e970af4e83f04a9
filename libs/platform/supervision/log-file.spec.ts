import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { LogFile } from './log-file.js';

const MAX_BYTES = 1_000;

let folder: string;
let file: string;
let forwarded: string[];
let log: LogFile;

beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'log-file-'));
  file = path.join(folder, 'postgres.log');
  forwarded = [];
  log = new LogFile(file, (line) => forwarded.push(line), MAX_BYTES);
});

afterEach(() => {
  log.stop();
  rmSync(folder, { recursive: true });
});

describe('a long log', () => {
  it('is rotated while its writer continues to write', async () => {
    await log.start();
    appendFileSync(file, `${'a'.repeat(MAX_BYTES)}\nb\n`);
    await log.readOn();
    appendFileSync(file, 'c\n');
    await log.readOn();
    expect(readFileSync(file, 'utf8')).toBe('c\n');
    expect(forwarded.slice(1)).toEqual(['b', 'c']);
  });

  it('keeps at most the maximum size, also if much was written at once', async () => {
    await log.start();
    appendFileSync(file, `${'a'.repeat(50 * MAX_BYTES)}\nthe end\n`);
    await log.readOn();
    expect(statSync(file).size).toBe(0);
    const rotated = readFileSync(`${file}.1`, 'utf8');
    expect([rotated.length, rotated.slice(-9)]).toEqual([MAX_BYTES, '\nthe end\n']);
  });

  it('is rotated before the next process writes to it', async () => {
    appendFileSync(file, 'a'.repeat(MAX_BYTES + 1));
    await log.start();
    expect([existsSync(file), statSync(`${file}.1`).size]).toEqual([false, MAX_BYTES + 1]);
  });
});
