import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { asToolFault } from '../tool-fault.js';
import { fillFolder } from './fresh-folder.js';

let folder: string;
let target: string;

beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'sotto-fresh-'));
  target = path.join(folder, 'backup');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** The fault that an operator sees, and how often filling began. */
async function refusal(wanted: string): Promise<{ fault: unknown; filled: number }> {
  let filled = 0;
  const fault: unknown = await fillFolder(
    wanted,
    () => undefined,
    () => Promise.resolve((filled += 1)),
  ).then(() => undefined, asToolFault);
  return { fault, filled };
}

it.each([
  ['in /proc', () => '/proc/backup', 'its parent takes no folders'],
  ['deeper in /proc', () => '/proc/of/backups', 'its parent takes no folders'],
  ['below a file', () => path.join(target, 'backup'), 'a part of the path is not a folder'],
  ['a file', () => target, 'exists already'],
  ['of a long name', () => path.join(folder, 'x'.repeat(300)), 'the name is too long'],
])('says why no folder can be made: %s', async (_, wanted, why) => {
  writeFileSync(target, '');
  const { fault, filled } = await refusal(wanted());
  expect(fault).toMatchObject({ exitCode: 69, message: expect.stringContaining(why) });
  expect(filled).toBe(0);
});

it.each([
  ['an empty folder', () => mkdirSync(target)],
  ['a link to nowhere', () => symlinkSync('/nowhere', target)],
])('is refused before filling when %s is at the path', async (_, make) => {
  make();
  const { fault, filled } = await refusal(target);
  expect(fault).toMatchObject({ exitCode: 69, message: expect.stringContaining('exists already') });
  expect([filled, readdirSync(folder)]).toEqual([0, ['backup']]);
});

it('appears once it is complete, and not at all when filling fails', async () => {
  const failing = fillFolder(
    target,
    () => undefined,
    (own) => {
      writeFileSync(path.join(own, 'half'), '');
      return Promise.reject(new Error('in the midst'));
    },
  );
  await expect(failing).rejects.toThrow('in the midst');
  expect(readdirSync(folder)).toEqual([]);
  await fillFolder(
    target,
    () => undefined,
    (own) => {
      expect(existsSync(target)).toBe(false);
      writeFileSync(path.join(own, 'whole'), '');
      return Promise.resolve();
    },
  );
  expect(readdirSync(target)).toEqual(['whole']);
});
