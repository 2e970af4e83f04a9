// A namespace import, so that a Node without Argon2 can still load this file.
import * as crypto from 'node:crypto';
import type { Argon2Cost, PasswordCost, ScryptCost } from './password-cost.js';

/** Derives a key from a password. Injected, so that a test can check that every refusal costs the same work. */
export type Derive = (password: string, salt: Buffer, length: number, cost: PasswordCost) => Promise<Buffer>;

export const deriveKey: Derive = (password, salt, length, cost) => {
  // Keyboards may produce different code points for the same characters.
  const characters = password.normalize('NFKC');
  return 'logN' in cost ? byScrypt(characters, salt, length, cost) : byArgon2(characters, salt, length, cost);
};

function byScrypt(
  password: string,
  salt: Buffer,
  length: number,
  { logN, r, p }: ScryptCost,
): Promise<Buffer> {
  const N = 2 ** logN;
  const options = { N, r, p, maxmem: 128 * r * (N + p + 2) + 1_024 };
  return new Promise((resolve, reject) => {
    crypto.scrypt(password, salt, length, options, (error, key) => {
      if (error === null) resolve(key);
      else reject(error);
    });
  });
}

function byArgon2(
  message: string,
  nonce: Buffer,
  tagLength: number,
  { memoryKib, passes, lanes }: Argon2Cost,
): Promise<Buffer> {
  if (!('argon2' in crypto)) throw new Error('this hash needs Argon2, which Node has since 24.7');
  const parameters = { message, nonce, tagLength, memory: memoryKib, passes, parallelism: lanes };
  return new Promise((resolve, reject) => {
    crypto.argon2('argon2id', parameters, (error, key) => {
      if (error === null) resolve(key);
      else reject(error);
    });
  });
}
