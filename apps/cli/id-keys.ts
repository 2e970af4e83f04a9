import path from 'node:path';
import { z } from 'zod';
import { defineConfig, type Environment, loadConfig } from '#libs/platform/settings/config.js';
import { readIfThere } from '#libs/platform/files/make-folder.js';
import { hexKeys, keyBytes } from '#libs/platform/settings/setting-types.js';
import { databasePlaceSettings } from './open-database.js';

type Keys = readonly [Buffer, ...Buffer[]];

const secretsSchema = z.object({ id_key: hexKeys() });

export const idKeySettings = defineConfig({
  ID_KEY: {
    schema: hexKeys().optional(),
    describe:
      'Keys of journal seals, instead of those in the data folder: copy uses the first, verify accepts all',
    secret: true,
  },
});

/**
 * The keys that are set, else those of the cluster in the data folder. Undefined for a database elsewhere.
 */
export async function findIdKeys(environment: Environment): Promise<Keys | undefined> {
  const { ID_KEY: configured } = loadConfig(idKeySettings, environment);
  if (configured !== undefined) return keyBytes(configured);
  const { DATABASE_URL: remoteDatabase, DATA_DIR: folder } = loadConfig(databasePlaceSettings, environment);
  return remoteDatabase === undefined ? await idKeysIn(folder) : undefined;
}

/** The keys of the cluster in a data folder. The first one makes new seals. */
export async function idKeysIn(folder: string): Promise<Keys | undefined> {
  const text = await readIfThere(path.join(folder, 'secrets.json'));
  return text === undefined ? undefined : keyBytes(secretsSchema.parse(JSON.parse(text)).id_key);
}
