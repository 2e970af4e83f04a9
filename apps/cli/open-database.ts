import { readFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { allMigrations } from '#libs/schema/all-migrations.js';
import { defineConfig, loadConfig, type Environment } from '#libs/platform/settings/config.js';
import { startEmbeddedPostgres } from '#libs/platform/embedded-postgres/embedded-postgres.js';
import { lockFolder } from '#libs/platform/files/folder-lock.js';
import { refuseUnfitDatabaseAt, refuseUnmigratedDatabase } from '#libs/platform/database/fit-database.js';
import { EXIT, StartFault } from '#libs/platform/process/start-fault.js';
import { migrate } from '#libs/platform/database/migrate.js';
import { nonEmpty, postgresUrl } from '#libs/platform/settings/setting-types.js';
import { markerOf } from '#libs/platform/supervision/marker.js';

export const databasePlaceSettings = defineConfig({
  DATABASE_URL: {
    schema: postgresUrl().optional(),
    describe: 'Database to work on, instead of the one of the running cluster',
    secret: true,
  },
  DATA_DIR: { schema: nonEmpty(), describe: 'Data folder of the running cluster', default: '.data' },
});

/** The URL of the database to work on. */
async function databaseUrl(environment: Environment): Promise<string> {
  const { DATABASE_URL: configuredUrl, DATA_DIR: folder } = loadConfig(databasePlaceSettings, environment);
  if (configuredUrl !== undefined) return configuredUrl;
  const file = path.join(folder, 'cluster.json');
  try {
    const { database_url: url } = JSON.parse(await readFile(file, 'utf8')) as { database_url: string };
    return url;
  } catch {
    throw new StartFault(`no cluster runs in ${folder}: start one, or set DATABASE_URL`, EXIT.config);
  }
}

export interface OpenDatabase {
  readonly url: string;
  readonly close: () => Promise<void>;
}

/**
 * The database to work on. Journals are moved while their cluster is stopped, and its embedded database with
 * it. Then starts that database for this call, and locks the data folder against any other start.
 */
export async function openDatabase(
  environment: Environment,
  logLine: (line: string) => void,
): Promise<OpenDatabase> {
  const { DATABASE_URL: configuredUrl, DATA_DIR: folder } = loadConfig(databasePlaceSettings, environment);
  const idle = configuredUrl === undefined ? await lockIdle(folder) : undefined;
  if (idle === undefined) {
    const url = await databaseUrl(environment);
    await refuseUnfitDatabaseAt(url, refuseUnmigratedDatabase);
    return { url, close: () => Promise.resolve() };
  }
  try {
    logLine(`no cluster runs in ${folder}: its database is started for this call`);
    const server = await startEmbeddedPostgres({
      folder: path.join(folder, 'postgres'),
      logFile: path.join(folder, 'logs', 'postgres.log'),
      marker: idle.marker,
    });
    const close = async (): Promise<void> => {
      await server.stop();
      await idle.lock.release();
    };
    // A server that keeps running would keep the tool from ending.
    await migrate(server.url, allMigrations, { info: () => undefined }).catch(async (error: unknown) => {
      await server.stop();
      throw error;
    });
    return { url: server.url, close };
  } catch (error) {
    await idle.lock.release();
    throw error;
  }
}

/** Undefined where a cluster runs, or never ran. */
async function lockIdle(folder: string) {
  if (!existsSync(path.join(folder, 'postgres'))) return undefined;
  const marker = await markerOf(folder);
  const outcome = await lockFolder(marker.folder, `npm run journal, process ${process.pid}`);
  return 'lock' in outcome ? { lock: outcome.lock, marker } : undefined;
}
