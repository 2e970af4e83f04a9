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
  /** To be called when everything is in it: before that no other program opens it. */
  readonly done: () => Promise<void>;
  readonly close: () => Promise<void>;
}

/** The database that is named, else a new one in a data folder that has none. */
export async function openEmptyDatabase(
  environment: Environment,
  tell: (line: string) => void,
): Promise<PlaceToRestore> {
  return await openPlace(environment, tell, async (folder, postgres) => {
    if (!existsSync(postgres)) return `a database is made in ${folder}`;
    await refuseUnfinishedRestoreIn(postgres);
    throw new StartFault(`${folder} has a database already: restore into another folder`, EXIT.unavailable);
  });
}

/** The database that is named, else that of a data folder in which a restore was begun. */
export async function openHalfRestored(
  environment: Environment,
  tell: (line: string) => void,
): Promise<PlaceToRestore> {
  return await openPlace(environment, tell, async (folder, postgres) => {
    await refuseNothingToResumeIn(postgres);
    return `the database in ${folder} is started for this`;
  });
}

async function openPlace(
  environment: Environment,
  tell: (line: string) => void,
  whatIsDone: (folder: string, postgres: string) => Promise<string>,
): Promise<PlaceToRestore> {
  const { DATABASE_URL: given, DATA_DIR: folder } = loadConfig(restoreSettings, environment);
  if (given !== undefined)
    return { url: given, done: () => Promise.resolve(), close: () => Promise.resolve() };
  const postgres = path.join(folder, 'postgres');
  await whatIsDone(folder, postgres);
  await makeFolder(path.join(folder, 'logs'), 0o700);
  const marker = await markerOf(folder);
  const outcome = await lockFolder(marker.folder, `npm run backup, process ${process.pid}`);
  if (!('lock' in outcome)) throw new StartFault(`${folder} is in use by ${outcome.heldBy}`);
  try {
    // Another call may have had the folder until now, and the server below marks what is there as unfinished.
    tell(await whatIsDone(folder, postgres));
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
