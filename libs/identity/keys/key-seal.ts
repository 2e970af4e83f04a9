import { createCipheriv, createDecipheriv, createPrivateKey, randomBytes, type KeyObject } from 'node:crypto';

const CIPHER = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/**
 * Encrypts private keys at rest. This also proves their origin: without the key encryption key, write access to the database is
 * not enough to add a signing key or to swap two.
 */
export class KeySeal {
  private readonly newest: Buffer;
  private readonly all: readonly Buffer[];

  /** Keys in hexadecimal. The first one encrypts, all of them decrypt. */
  constructor(first: string, ...previous: readonly string[]) {
    this.newest = Buffer.from(first, 'hex');
    this.all = [this.newest, ...previous.map((hex) => Buffer.from(hex, 'hex'))];
  }

  seal(privateKey: KeyObject, kid: string): Buffer {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(CIPHER, this.newest, nonce);
    cipher.setAAD(Buffer.from(kid));
    const der = privateKey.export({ format: 'der', type: 'pkcs8' });
    return Buffer.concat([nonce, cipher.update(der), cipher.final(), cipher.getAuthTag()]);
  }

  /** Undefined if no key decrypts it, or if `kid` differs. */
  open(sealed: Buffer, kid: string): KeyObject | undefined {
    for (const key of this.all) {
      const opened = openedWith(key, sealed, kid);
      if (opened !== undefined) return opened;
    }
    return undefined;
  }
}

function openedWith(key: Buffer, sealed: Buffer, kid: string): KeyObject | undefined {
  const nonce = sealed.subarray(0, NONCE_BYTES);
  const body = sealed.subarray(NONCE_BYTES, -TAG_BYTES);
  try {
    const decipher = createDecipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES });
    decipher.setAAD(Buffer.from(kid));
    decipher.setAuthTag(sealed.subarray(-TAG_BYTES));
    const der = Buffer.concat([decipher.update(body), decipher.final()]);
    return createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
  } catch {
    return undefined;
  }
}
