import { randomBytes, timingSafeEqual } from 'node:crypto';
import { deriveKey, type Derive } from './derive.js';
import { isSane, PRODUCTION_COST, type PasswordCost } from './password-cost.js';

export interface PasswordHash {
  readonly cost: PasswordCost;
  readonly salt: Buffer;
  readonly key: Buffer;
}

const SALT_BYTES = 16;
const KEY_BYTES = 32;
const SALT_AND_KEY = '\\$([A-Za-z0-9+/]{22})\\$([A-Za-z0-9+/]{43})$';
const SCRYPT_HASH = new RegExp(`^\\$scrypt\\$ln=(\\d{1,2}),r=(\\d{1,2}),p=(\\d{1,2})${SALT_AND_KEY}`);
const ARGON2_HASH = new RegExp(`^\\$argon2id\\$v=19\\$m=(\\d{1,6}),t=(\\d{1,2}),p=(\\d{1,2})${SALT_AND_KEY}`);

/** Returns a PHC string, which contains the cost, so that old hashes stay valid when the cost is raised. */
export async function hashPassword(password: string, cost: PasswordCost = PRODUCTION_COST): Promise<string> {
  const salt = randomBytes(SALT_BYTES);
  const key = await deriveKey(password, salt, KEY_BYTES, cost);
  return encode({ cost, salt, key });
}

/** For users without a hash: checking takes the same work, and no password matches. */
export function decoyHash(cost: PasswordCost): PasswordHash {
  return { cost, salt: randomBytes(SALT_BYTES), key: randomBytes(KEY_BYTES) };
}

export async function matches(password: string, hash: PasswordHash, derive: Derive): Promise<boolean> {
  const key = await derive(password, hash.salt, hash.key.length, hash.cost);
  return timingSafeEqual(key, hash.key);
}

/** Undefined for anything but a hash in the format of hashPassword(). */
export function parsePasswordHash(text: string): PasswordHash | undefined {
  const scrypt = SCRYPT_HASH.exec(text);
  const [, first, second, third, salt = '', key = ''] = scrypt ?? ARGON2_HASH.exec(text) ?? [];
  const [a, b, c] = [Number(first), Number(second), Number(third)];
  const cost = scrypt === null ? { memoryKib: a, passes: b, lanes: c } : { logN: a, r: b, p: c };
  if (!isSane(cost)) return undefined;
  return { cost, salt: Buffer.from(salt, 'base64'), key: Buffer.from(key, 'base64') };
}

function encode({ cost, salt, key }: PasswordHash): string {
  const scheme =
    'logN' in cost
      ? `scrypt$ln=${cost.logN},r=${cost.r},p=${cost.p}`
      : `argon2id$v=19$m=${cost.memoryKib},t=${cost.passes},p=${cost.lanes}`;
  return `$${scheme}$${unpadded(salt)}$${unpadded(key)}`;
}

function unpadded(bytes: Buffer): string {
  return bytes.toString('base64').replaceAll('=', '');
}
