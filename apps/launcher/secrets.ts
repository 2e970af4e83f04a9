import path from 'node:path';
import { randomBytes } from 'node:crypto';
import { rename, writeFile } from 'node:fs/promises';
import { z } from 'zod';
import { readIfThere } from '#libs/platform/files/make-folder.js';
import { EXIT, StartFault } from '#libs/platform/process/start-fault.js';

const KEY_BYTES = 32;

const hexKey = z.string().regex(/^[0-9a-f]{64}$/);
/** The current key and older ones that are still needed. */
const hexKeys = z.string().regex(/^[0-9a-f]{64}(,[0-9a-f]{64})*$/);
/**
 * For a key that nothing in the database depends on, or that earlier versions lack: a missing one is made.
 * Any other missing key is lost.
 */
const renewableKey = hexKey.default(randomKey);
const renewableKeys = hexKeys.default(randomKey);

const secretsSchema = z.object({
  /** The token that gateways and owners show each other. */
  service_token: renewableKey,
  /** Auction and quote ids are derived from it. */
  id_key: hexKeys,
  /** Encrypts the signing keys of session tokens in the database. */
  session_kek: hexKeys,
  /** Encrypts resume tokens of streams. */
  stream_key: renewableKeys,
  /** Pseudonyms for auditors are derived from it. */
  audit_key: renewableKey,
  /** Signs replay bundles. */
  audit_signing_key: renewableKeys,
  /** Hashes API keys. */
  api_key_secret: renewableKey,
  /** Operators of market data show it. */
  admin_secret: renewableKey,
  /** Encrypts the keys of users at venues. */
  signer_key: renewableKey,
});

export type ClusterSecrets = z.output<typeof secretsSchema>;

export interface FoundSecrets {
  readonly secrets: ClusterSecrets;
  /** Names of missing keys that were made and not saved yet. */
  readonly renewed: readonly string[];
  /** Everything in the file, including fields of later versions. */
  readonly kept: object;
}

/**
 * Secrets are kept from the first start on, so that tokens, cursors and ids stay valid. Undefined without a
 * file.
 */
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

/** For a new cluster. */
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
