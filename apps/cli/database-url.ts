import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { defineConfig, loadConfig, type Environment } from '#libs/platform/settings/config.js';
import { nonEmpty, postgresUrl } from '#libs/platform/settings/setting-types.js';
import { EXIT, StartFault } from '#libs/platform/process/start-fault.js';

export const databasePlaceSettings = defineConfig({
  DATABASE_URL: {
    schema: postgresUrl().optional(),
    describe: 'Database to work on, instead of that of the running cluster',
    secret: true,
  },
  DATA_DIR: { schema: nonEmpty(), describe: 'Data folder of the running cluster', default: '.data' },
});

/** Where a program that works on the database finds it. */
export async function databaseUrl(environment: Environment): Promise<string> {
  const { DATABASE_URL: given, DATA_DIR: folder } = loadConfig(databasePlaceSettings, environment);
  if (given !== undefined) return given;
  const file = path.join(folder, 'cluster.json');
  try {
    const { database_url: url } = JSON.parse(await readFile(file, 'utf8')) as { database_url: string };
    return url;
  } catch {
    throw new StartFault(`no cluster runs on ${folder}: start one, or set DATABASE_URL`, EXIT.config);
  }
}
