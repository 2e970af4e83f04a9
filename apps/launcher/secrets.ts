import path from 'node:path';
import { randomBytes } from 'node:crypto';
import { rename, writeFile } from 'node:fs/promises';
import { z } from 'zod';
import { readIfThere } from '#libs/platform/files/make-folder.js';
import { EXIT, StartFault } from '#libs/platform/process/start-fault.js';

const KEY_BYTES = 32;

const hexKey = z.string().regex(/^[0-9a-f]{64}$/);
/** The one in use and, while they are still needed, those before it. */
const hexKeys = z.string().regex(/^[0-9a-f]{64}(,[0-9a-f]{64})*$/);
/**
 * For a key on which nothing in the database rests, or that an earlier version did not have: where it is missing, it is made. Any
 * other key that is missing is lost.
 */
const renewableKey = hexKey.default(randomKey);
const renewableKeys = hexKeys.default(randomKey);

const secretsSchema = z.object({
  /** What gateways and owners prove to each other. */
  service_token: renewableKey,
  /** From which auction and quote ids are made. */
  id_key: hexKeys,
  /** Under which the signing keys of session tokens lie in the database. */
  session_kek: hexKeys,
  /** Under which resume tokens of streams are sealed. */
  stream_key: renewableKeys,
  /** From which auditors get pseudonyms for accounts. */
  audit_key: renewableKey,
  /** With which replay bundles are signed. */
  audit_signing_key: renewableKeys,
  /** Under which API keys are hashed. */
  api_key_secret: renewableKey,
  /** With which operators of market data are known. */
  admin_secret: renewableKey,
  /** Under which the signer seals the keys of users at venues. */
  signer_key: renewableKey,
});

export type ClusterSecrets = z.output<typeof secretsSchema>;

export interface FoundSecrets {
  readonly secrets: ClusterSecrets;
  /** Names of those that were missing and have been made anew; they are not kept yet. */
  readonly renewed: readonly string[];
  /** All that the file holds, of later versions too. */
  readonly kept: object;
}

/** Kept from the first start on: tokens, cursors and ids stay valid over restarts. Undefined where there are none. */
export async function findSecrets(dataFolder: string): Promise<FoundSecrets | undefined> {
  const file = secretsPath(dataFolder);
  const text = await readIfThere(file);
  if (text === undefined) return undefined;
  const { kept, secrets } = parse(text, file);
  return { secrets, kept, renewed: Object.keys(secrets).filter((name) => !(name in kept)) };
}

export function keepRenewed(dataFolder: string, { kept, secrets }: FoundSecrets): Promise<void> {
  return write(secretsPath(dataFolder), { ...kept, ...secrets });
}

/** For a cluster that begins. */
export async function keepNewSecrets(dataFolder: string): Promise<ClusterSecrets> {
  const made = makeSecrets();
  await write(secretsPath(dataFolder), made);
  return made;
}

export function makeSecrets(): ClusterSecrets {
  return secretsSchema.parse({ id_key: randomKey(), session_kek: randomKey() });
}

export function secretsPath(dataFolder: string): string {
  return path.join(dataFolder, 'secrets.json');
}

function parse(text: string, file: string): Pick<FoundSecrets, 'kept' | 'secrets'> {
  try {
    const found: unknown = JSON.parse(text);
    const secrets = secretsSchema.parse(found);
    return { kept: z.looseObject({}).parse(found), secrets };
  } catch {
    throw new StartFault(
      `${file} is damaged: it does not hold the secrets of this cluster; put it back from a backup`,
      EXIT.damaged,
    );
  }
}

async function write(file: string, secrets: object): Promise<void> {
  const partial = `${file}.new`;
  await writeFile(partial, `${JSON.stringify(secrets, undefined, 2)}\n`, { mode: 0o600 });
  await rename(partial, file);
}

function randomKey(): string {
  return randomBytes(KEY_BYTES).toString('hex');
}
