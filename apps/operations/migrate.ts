import { databaseSettings } from '#libs/platform/database-settings.js';
import { createLogger } from '#libs/platform/log.js';
import { migrate } from '#libs/platform/migrate.js';
import { loadConfigOrExit } from '#libs/platform/process-settings.js';
import { allMigrations } from '#libs/schema/all-migrations.js';

/** Brings every schema of the product up to date, once, under a lock; a job of its own where no launcher does it. */
const config = loadConfigOrExit('migrate', databaseSettings, process.env);
const log = createLogger({ name: 'migrate', level: 'info' });
await migrate(config.DATABASE_URL, allMigrations, {
  info: (line) => {
    log.info(line);
  },
});
