import path from 'node:path';
import { EXIT } from '#libs/platform/process/start-fault.js';
import { SystemClock } from '#libs/platform/time/system-clock.js';
import { prepareJournals } from './journals.js';
import { prepareLogins } from './database-logins.js';
import { launch } from './launch.js';
import { allMigrations } from '#libs/schema/all-migrations.js';
import { planProcesses } from './processes.js';
import { seedDemo } from './seed.js';

// The last resort: processes notice the end of their launcher and stop by themselves.
process.on('uncaughtException', (error) => {
  process.stderr.write(`sotto: the launcher failed: ${error.stack ?? error.message}\n`);
  process.exit(EXIT.bug);
});

const parts = {
  appsFolder: path.resolve(import.meta.dirname, '..'),
  plan: planProcesses,
  migrations: allMigrations,
  prepareLogins,
  seed: seedDemo,
  journalTable: 'journal.records',
  prepareJournals,
};

process.exit(await launch(process.env, parts, new SystemClock()));
