import type { Environment } from '#libs/platform/config.js';
import { openPool } from '#libs/platform/postgres.js';
import { callOf, USAGE, UsageFault, type Call } from './backup/call.js';
import { createBackup } from './backup/create-backup.js';
import { BackupDamaged, type Manifest } from './backup/manifest.js';
import { openEmptyDatabase } from './backup/restore-place.js';
import { backupToRestore, checkBackup, restoreBackup } from './backup/restore-backup.js';
import { openDatabase } from './journal/database.js';
import { mention } from '#libs/platform/standard-error.js';
import { print } from '#libs/platform/standard-output.js';
import { tellFault } from '#libs/platform/tool-faults.js';
import { asToolFault } from './tool-fault.js';

const EXIT_USAGE = 64;
const EXIT_DAMAGED = 1;
const DONE: Readonly<Record<Call['command'], string>> = {
  create: 'written to',
  check: 'whole:',
  restore: 'restored from',
};

async function main(args: readonly string[], environment: Environment): Promise<void> {
  const call = callOf(args);
  if (call === undefined) {
    print(USAGE);
    return;
  }
  const manifest = await run(call, environment);
  const { taken_at: takenAt, tables } = manifest;
  const rows = tables.reduce((sum, table) => sum + table.rows, 0);
  if (call.json) print(JSON.stringify({ folder: call.folder, taken_at: takenAt, rows, tables }));
  else print(`${rows} rows of ${takenAt} ${DONE[call.command]} ${call.folder}`);
}

async function run({ command, folder }: Call, environment: Environment): Promise<Manifest> {
  switch (command) {
    case 'check':
      return await checkBackup(folder);
    case 'create':
      return await create(folder, environment);
    case 'restore': {
      const backup = await backupToRestore(folder);
      const { url, done, close } = await openEmptyDatabase(environment, mention);
      try {
        await restoreBackup(url, backup, mention);
        await done();
        return backup.manifest;
      } finally {
        await close();
      }
    }
  }
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

function exitCodeOf(error: unknown, args: readonly string[]): number {
  if (error instanceof UsageFault) {
    tellFault('backup', args, { message: error.message, help: USAGE });
    return EXIT_USAGE;
  }
  if (error instanceof BackupDamaged) {
    tellFault('backup', args, error);
    return EXIT_DAMAGED;
  }
  const fault = asToolFault(error);
  if (fault === undefined) throw error;
  tellFault('backup', args, fault);
  return fault.exitCode;
}

const args = process.argv.slice(2);
try {
  await main(args, process.env);
} catch (error) {
  process.exitCode = exitCodeOf(error, args);
}
