import { appendFile, mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it } from '@jest/globals';
import type { LoggedCommand } from './venue/terms.js';
import { VenueLog } from './venue-log.js';

async function newFile(): Promise<string> {
  return path.join(await mkdtemp(path.join(tmpdir(), 'sotto-log-')), 'venue_b.log');
}

async function recordsIn(file: string): Promise<LoggedCommand[]> {
  const records: LoggedCommand[] = [];
  const log = await VenueLog.open(file, (command) => records.push(command));
  await log.close();
  return records;
}

function credit(account: string): LoggedCommand {
  return { at: 1, do: 'credit', account, amount: '5', movement_id: account };
}

describe('the log of a practice venue', () => {
  it('concurrent appends resolve only once on disk, and keep their order', async () => {
    const file = await newFile();
    const log = await VenueLog.open(file, () => undefined);
    const accounts = Array.from({ length: 500 }, (_, index) => `a${index}`);
    await Promise.all(
      accounts.map(async (account) => {
        await log.append(credit(account));
        expect(await readFile(file, 'utf8')).toContain(`"account":"${account}"`);
      }),
    );
    await log.close();
    expect(await recordsIn(file)).toEqual(accounts.map(credit));
  });

  it('a torn last line is cut off, and appends continue', async () => {
    const file = await newFile();
    await writeFile(file, `${JSON.stringify(credit('ann'))}\n`);
    await appendFile(file, '{"at":2,"do":"cre');
    const log = await VenueLog.open(file, () => undefined);
    await log.append(credit('ben'));
    await log.close();
    expect(await recordsIn(file)).toEqual([credit('ann'), credit('ben')]);
  });

  it('a damaged record stops the start', async () => {
    const file = await newFile();
    await writeFile(file, `{"at":2,"do":"cre\n${JSON.stringify(credit('ann'))}\n`);
    await expect(recordsIn(file)).rejects.toThrow('line 1');
  });
});
