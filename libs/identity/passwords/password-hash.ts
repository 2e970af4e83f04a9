import { randomBytes, scrypt, timingSafeEqual, type ScryptOptions } from 'node:crypto';

/** 2^logN blocks of 128 * r bytes, p times over. */
export interface PasswordCost {
  readonly logN: number;
  readonly r: number;
  readonly p: number;
}

export interface PasswordHash {
  readonly cost: PasswordCost;
  readonly salt: Buffer;
  readonly key: Buffer;
}

/** Turns a password into a key; a port, so that a test can see that every refusal costs the same work. */
export type Derive = (password: string, salt: Buffer, length: number, cost: PasswordCost) => Promise<Buffer>;

/**
 * One of the settings that OWASP names as equally strong. Of those it takes the least memory but one, 32 MiB, so that a
 * gateway can check a few passwords at a time beside its other work.
 */
export const PRODUCTION_COST: PasswordCost = { logN: 15, r: 8, p: 3 };

const SALT_BYTES = 16;
const KEY_BYTES = 32;
/** Bounds what a damaged or planted row could make a gateway allocate. */
const MAX_LOG_N = 18;
const MAX_R = 16;
const MAX_P = 16;
const ENCODED = /^\$scrypt\$ln=(\d{1,2}),r=(\d{1,2}),p=(\d{1,2})\$([A-Za-z0-9+/]{22})\$([A-Za-z0-9+/]{43})$/;

export const deriveScrypt: Derive = (password, salt, length, { logN, r, p }) => {
  const N = 2 ** logN;
  const options: ScryptOptions = { N, r, p, maxmem: 128 * r * (N + p + 2) + 1_024 };
  return new Promise((resolve, reject) => {
    // The same characters may be typed as different code points.
    scrypt(password.normalize('NFKC'), salt, length, options, (error, key) => {
      if (error === null) resolve(key);
      else reject(error);
    });
  });
};

/** A PHC string, which carries its own cost: old hashes stay good when the cost of new ones is raised. */
export async function hashPassword(password: string, cost: PasswordCost = PRODUCTION_COST): Promise<string> {
  const salt = randomBytes(SALT_BYTES);
  const key = await deriveScrypt(password, salt, KEY_BYTES, cost);
  return encode({ cost, salt, key });
}

/** Stands for the hash of those who have none: its work is the same, and no password is right. */
export function decoyHash(cost: PasswordCost): PasswordHash {
  return { cost, salt: randomBytes(SALT_BYTES), key: randomBytes(KEY_BYTES) };
}

export async function matches(password: string, hash: PasswordHash, derive: Derive): Promise<boolean> {
  const key = await derive(password, hash.salt, hash.key.length, hash.cost);
  return timingSafeEqual(key, hash.key);
}

/** Undefined for anything but a hash as hashPassword() writes it. */
export function parsePasswordHash(text: string): PasswordHash | undefined {
  const [, logN, r, p, salt = '', key = ''] = ENCODED.exec(text) ?? [];
  const cost = { logN: Number(logN), r: Number(r), p: Number(p) };
  if (!isSane(cost)) return undefined;
  return { cost, salt: Buffer.from(salt, 'base64'), key: Buffer.from(key, 'base64') };
}

function isSane({ logN, r, p }: PasswordCost): boolean {
  return logN >= 1 && logN <= MAX_LOG_N && r >= 1 && r <= MAX_R && p >= 1 && p <= MAX_P;
}

function encode({ cost, salt, key }: PasswordHash): string {
  return `$scrypt$ln=${cost.logN},r=${cost.r},p=${cost.p}$${unpadded(salt)}$${unpadded(key)}`;
}

function unpadded(bytes: Buffer): string {
  return bytes.toString('base64').replaceAll('=', '');
}
