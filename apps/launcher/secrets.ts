import { randomBytes } from 'node:crypto';
import { readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { isCodedError, StartFault, EXIT } from '#libs/platform/start-fault.js';

const KEY_BYTES = 32;

const hexKey = z.string().regex(/^[0-9a-f]{64}$/);
const secretsSchema = z.object({
  /** What gateways and owners prove to each other. */
  service_token: hexKey,
  /** From which auction and quote ids are made. */
  id_key: hexKey,
  /** Under which the signing keys of session tokens lie in the database. */
  session_kek: hexKey,
});

export type ClusterSecrets = z.output<typeof secretsSchema>;

/** Made at the first start and kept: tokens, cursors and ids stay valid over restarts. */
export async function loadSecrets(dataFolder: string): Promise<ClusterSecrets> {
  const file = path.join(dataFolder, 'secrets.json');
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    if (isCodedError(error) && error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (text !== undefined) return parse(text, file);
  const made = makeSecrets();
  const partial = `${file}.new`;
  await writeFile(partial, `${JSON.stringify(made, undefined, 2)}\n`, { mode: 0o600 });
  await rename(partial, file);
  return made;
}

function parse(text: string, file: string): ClusterSecrets {
  try {
    return secretsSchema.parse(JSON.parse(text));
  } catch {
    throw new StartFault(`${file} is damaged: it does not hold the secrets of this cluster`, EXIT.damaged);
  }
}

function makeSecrets(): ClusterSecrets {
  return {
    service_token: randomKey(),
    id_key: randomKey(),
    session_kek: randomKey(),
  };
}

function randomKey(): string {
  return randomBytes(KEY_BYTES).toString('hex');
}
