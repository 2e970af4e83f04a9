import { once } from 'node:events';
import type { Environment } from '#libs/platform/settings/config.js';
import { openPool } from '#libs/platform/database/postgres.js';
import { BACKUP, callOf, type BackupCall } from './backup/call.js';
import { createBackup } from './backup/create-backup.js';
import { BackupDamaged, type Manifest } from './backup/manifest.js';
import { openEmptyDatabase, openHalfRestored, type PlaceToRestore } from './backup/restore-place.js';
import { backupToRestore, checkBackup, restoreBackup, resumeRestore } from './backup/restore-backup.js';
import { openDatabase } from './open-database.js';
import { mention } from '#libs/platform/terminal/standard-error.js';
import { print } from '#libs/platform/terminal/standard-output.js';
import { StartFault } from '#libs/platform/process/start-fault.js';
import { program } from './program.js';
import { asToolFault } from './tool-fault.js';

const EXIT_DAMAGED = 1;
const DONE: Readonly<Record<BackupCall['command'], string>> = {
  create: 'written to',
  check: 'whole:',
  restore: 'restored from',
  resume: 'restored',
};

export const backup = program(
  BACKUP,
  async (parsed, { environment }) => {
    const call = callOf(parsed);
    const { taken_at: takenAt, tables } = await run(call, environment);
    const rows = tables.reduce((sum, table) => sum + table.rows, 0);
    const folder = 'folder' in call ? call.folder : undefined;
    if (call.json) print(JSON.stringify({ folder, taken_at: takenAt, rows, tables }));
    else print([`${rows} rows of ${takenAt} ${DONE[call.command]}`, folder].join(' ').trimEnd());
    return 0;
  },
  (error) =>
    error instanceof BackupDamaged ? new StartFault(error.message, EXIT_DAMAGED) : asToolFault(error),
);

async function run(call: BackupCall, environment: Environment): Promise<Manifest> {
  switch (call.command) {
    case 'check':
      return await checkBackup(call.folder);
    case 'create':
      return await create(call.folder, environment);
    case 'restore': {
      const backup = await backupToRestore(call.folder);
      return await within(await openEmptyDatabase(environment, mention), async (url) => {
        await restoreBackup(url, backup, mention);
        return backup.manifest;
      });
    }
    case 'resume':
      return await within(await openHalfRestored(environment, mention), async (url) => {
        if (call.waits) await untilEnter(url);
        return await resumeRestore(url);
      });
  }
}

/** Opens the database to other programs only once the work is complete. */
async function within(
  { url, done, close }: PlaceToRestore,
  work: (url: string) => Promise<Manifest>,
): Promise<Manifest> {
  try {
    const manifest = await work(url);
    await done();
    return manifest;
  } finally {
    await close();
  }
}

/**
 * Lets an operator connect. A data folder's server runs only during this call; the password is in that
 * folder.
 */
async function untilEnter(databaseUrl: string): Promise<void> {
  const shown = new URL(databaseUrl);
  shown.password = '';
  mention(`the database is open at ${shown.href}: press Enter to go on`);
  await Promise.race([once(process.stdin, 'data'), once(process.stdin, 'end')]);
  process.stdin.pause();
}

async function create(folder: string, environment: Environment): Promise<Manifest> {
  const { url, close } = await openDatabase(environment, mention);
  const pool = openPool(url, { applicationName: 'sotto-backup', max: 2 });
  try {
    return await createBackup({ pool, tell: mention }, folder);
  } finally {
    await pool.end();
    await close();
  }
}
