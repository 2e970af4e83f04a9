import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import type { VenueId } from '../rules/venues.js';

/** The owner of a sealed key. The key does not open for any other owner. */
export interface KeyOwner {
  readonly user_id: string;
  readonly venue: VenueId;
}

/** Holds the root key that seals all other keys. */
export interface KeyManagement {
  wrap(secret: Buffer, owner: KeyOwner): Promise<Buffer>;
  /** Fails if the key was sealed for another owner or with another root key, or was changed. */
  unwrap(sealed: Buffer, owner: KeyOwner): Promise<Buffer>;
}

const CIPHER = 'aes-256-gcm';
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** Seals each user's key at each venue with a key of its own, derived from the root key in the settings. */
export class FileKeyManagement implements KeyManagement {
  private readonly root: Buffer;

  /** In hexadecimal. */
  constructor(root: string) {
    this.root = Buffer.from(root, 'hex');
  }

  wrap(secret: Buffer, owner: KeyOwner): Promise<Buffer> {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(CIPHER, this.keyOf(owner), nonce, { authTagLength: TAG_BYTES });
    cipher.setAAD(nameOf(owner));
    return Promise.resolve(
      Buffer.concat([nonce, cipher.update(secret), cipher.final(), cipher.getAuthTag()]),
    );
  }

  unwrap(sealed: Buffer, owner: KeyOwner): Promise<Buffer> {
    return new Promise((resolve) => {
      const nonce = sealed.subarray(0, NONCE_BYTES);
      const decipher = createDecipheriv(CIPHER, this.keyOf(owner), nonce, { authTagLength: TAG_BYTES });
      decipher.setAAD(nameOf(owner));
      decipher.setAuthTag(sealed.subarray(-TAG_BYTES));
      const body = sealed.subarray(NONCE_BYTES, -TAG_BYTES);
      resolve(Buffer.concat([decipher.update(body), decipher.final()]));
    });
  }

  private keyOf(owner: KeyOwner): Buffer {
    return Buffer.from(hkdfSync('sha256', this.root, Buffer.alloc(0), nameOf(owner), KEY_BYTES));
  }
}

/** The length of the venue's name keeps any two owners apart, whatever a user name contains. */
function nameOf({ user_id, venue }: KeyOwner): Buffer {
  return Buffer.from(`signer/${venue.length}/${venue}/${user_id}`);
}
