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
      'Keys of journal seals, instead of those in the data folder: copy seals with the first, verify accepts all',
    secret: true,
  },
});

/** Those that are set, else those of the cluster on the data folder; undefined for a database elsewhere. */
export async function findIdKeys(environment: Environment): Promise<Keys | undefined> {
  const { ID_KEY: given } = loadConfig(idKeySettings, environment);
  if (given !== undefined) return keyBytes(given);
  const { DATABASE_URL: elsewhere, DATA_DIR: folder } = loadConfig(databasePlaceSettings, environment);
  return elsewhere === undefined ? await idKeysIn(folder) : undefined;
}

/** Of the cluster on a data folder; the first makes what is new. */
export async function idKeysIn(folder: string): Promise<Keys | undefined> {
  const text = await readIfThere(path.join(folder, 'secrets.json'));
  return text === undefined ? undefined : keyBytes(secretsSchema.parse(JSON.parse(text)).id_key);
}
