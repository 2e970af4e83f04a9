import { expect, it } from '@jest/globals';
import { whyItRefuses } from './embedded-postgres.js';

const PLENTY = 2 ** 40;
const line = (level: string, text: string): string => `2026-11-24 03:00:00.000 UTC [7]  ${level}:  ${text}\n`;

it.each([
  ['could not write to file "pg_wal/xlogtemp.7": No space left on device', 69],
  ['could not create file "postmaster.opts": Disk quota exceeded', 69],
  ['could not fsync file "pg_wal/0": Input/output error', 69],
  ['could not open file "global/pg_control": No such file or directory', 65],
])('a start that fails with "%s" gives exit code %i', (reason, exitCode) => {
  expect(whyItRefuses(line('FATAL', reason), PLENTY)).toEqual({ reason, exitCode });
});

it('a full disk is reported as the reason, also after other errors', () => {
  const log =
    line('FATAL', 'startup process failed') + line('PANIC', 'could not write: No space left on device');
  expect(whyItRefuses(log, PLENTY)).toMatchObject({ exitCode: 69 });
});

it('without a logged reason the disk is full, or else the data is damaged', () => {
  expect(whyItRefuses('', 4096)).toEqual({ reason: 'no space left on the device', exitCode: 69 });
  expect(whyItRefuses('', PLENTY)).toEqual({ reason: 'it gave no reason', exitCode: 65 });
  expect(whyItRefuses(line('LOG', 'starting'), PLENTY)).toMatchObject({ exitCode: 65 });
});
