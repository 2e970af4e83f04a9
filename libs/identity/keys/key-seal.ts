import { createCipheriv, createDecipheriv, createPrivateKey, randomBytes, type KeyObject } from 'node:crypto';

const CIPHER = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/**
 * Keeps private keys unreadable at rest. The seal also proves where a key comes from: who can write to the database but
 * does not have the key encryption key cannot add a signing key of his own, nor exchange two.
 */
export class KeySeal {
  private readonly keyEncryptionKey: Buffer;

  constructor(hex: string) {
    this.keyEncryptionKey = Buffer.from(hex, 'hex');
  }

  seal(privateKey: KeyObject, kid: string): Buffer {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(CIPHER, this.keyEncryptionKey, nonce);
    cipher.setAAD(Buffer.from(kid));
    const der = privateKey.export({ format: 'der', type: 'pkcs8' });
    return Buffer.concat([nonce, cipher.update(der), cipher.final(), cipher.getAuthTag()]);
  }

  /** Undefined for what was not sealed with this key encryption key under this name. */
  open(sealed: Buffer, kid: string): KeyObject | undefined {
    const nonce = sealed.subarray(0, NONCE_BYTES);
    const body = sealed.subarray(NONCE_BYTES, -TAG_BYTES);
    try {
      const decipher = createDecipheriv(CIPHER, this.keyEncryptionKey, nonce, { authTagLength: TAG_BYTES });
      decipher.setAAD(Buffer.from(kid));
      decipher.setAuthTag(sealed.subarray(-TAG_BYTES));
      const der = Buffer.concat([decipher.update(body), decipher.final()]);
      return createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
    } catch {
      return undefined;
    }
  }
}
