import { existsSync } from 'node:fs';
import path from 'node:path';
import { defineConfig, loadConfig, type Environment } from '#libs/platform/settings/config.js';
import { startEmbeddedPostgres } from '#libs/platform/embedded-postgres/embedded-postgres.js';
import { lockFolder } from '#libs/platform/files/folder-lock.js';
import { makeFolder } from '#libs/platform/files/make-folder.js';
import { nonEmpty, postgresUrl } from '#libs/platform/settings/setting-types.js';
import { EXIT, StartFault } from '#libs/platform/process/start-fault.js';
import { markerOf } from '#libs/platform/supervision/marker.js';
import {
  endRestoreIn,
  refuseNothingToResumeIn,
  refuseUnfinishedRestoreIn,
} from '#libs/platform/database/unfinished-restore.js';

export const restoreSettings = defineConfig({
  DATABASE_URL: {
    schema: postgresUrl().optional(),
    describe: 'The empty database to restore into',
    secret: true,
  },
  DATA_DIR: {
    schema: nonEmpty(),
    describe: 'Folder in which to make an embedded database',
    default: '.data',
  },
});

export interface PlaceToRestore {
  readonly url: string;
  /** Opens the database to other programs. Call it once the restore is complete. */
  readonly done: () => Promise<void>;
  readonly close: () => Promise<void>;
}

/** The database of DATABASE_URL, else a new one in a data folder that has none. */
export async function openEmptyDatabase(
  environment: Environment,
  tell: (line: string) => void,
): Promise<PlaceToRestore> {
  return await openTarget(environment, tell, async (folder, postgres) => {
    if (!existsSync(postgres)) return `making a database in ${folder}`;
    await refuseUnfinishedRestoreIn(postgres);
    throw new StartFault(`${folder} has a database already: restore into another folder`, EXIT.unavailable);
  });
}

/** The database of DATABASE_URL, else that of a data folder with an unfinished restore. */
export async function openHalfRestored(
  environment: Environment,
  tell: (line: string) => void,
): Promise<PlaceToRestore> {
  return await openTarget(environment, tell, async (folder, postgres) => {
    await refuseNothingToResumeIn(postgres);
    return `the database in ${folder} is started for this call`;
  });
}

async function openTarget(
  environment: Environment,
  tell: (line: string) => void,
  checkFolder: (folder: string, postgres: string) => Promise<string>,
): Promise<PlaceToRestore> {
  const { DATABASE_URL: databaseUrl, DATA_DIR: folder } = loadConfig(restoreSettings, environment);
  if (databaseUrl !== undefined)
    return { url: databaseUrl, done: () => Promise.resolve(), close: () => Promise.resolve() };
  const postgres = path.join(folder, 'postgres');
  await checkFolder(folder, postgres);
  await makeFolder(path.join(folder, 'logs'), 0o700);
  const marker = await markerOf(folder);
  const outcome = await lockFolder(marker.folder, `npm run backup, process ${process.pid}`);
  if (!('lock' in outcome)) throw new StartFault(`${folder} is in use by ${outcome.heldBy}`);
  try {
    // Checked again under the lock: another call may have used the folder until now.
    tell(await checkFolder(folder, postgres));
    const server = await startEmbeddedPostgres({
      folder: postgres,
      isRestore: true,
      logFile: path.join(folder, 'logs', 'postgres.log'),
      marker,
    });
    return {
      url: server.url,
      done: () => endRestoreIn(postgres),
      close: async () => {
        await server.stop();
        await outcome.lock.release();
      },
    };
  } catch (error) {
    await outcome.lock.release();
    throw error;
  }
}
