import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createSecretKey,
  randomBytes,
  type KeyObject,
} from 'node:crypto';
import type { JournalLife } from '#libs/journal/life/journal-life.js';
import {
  decodePoint,
  encodePoint,
  issuedMillisOf,
  lifeOf,
  type ResumePoint,
} from '#libs/auction/stream/resume-point.js';

export type Opened =
  | { readonly ok: true; readonly point: ResumePoint }
  | { readonly ok: false; readonly error: 'INVALID' | 'EXPIRED' };

const CIPHER = 'aes-256-gcm';
const VERSION = 1;
const KEY_ID_BYTES = 4;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const HEAD_BYTES = 1 + KEY_ID_BYTES + NONCE_BYTES;
const LIFE_MILLIS = 86_400_000;
/** Clocks of two gateways may differ by this much. */
const SKEW_MILLIS = 60_000;
const LONGEST_TEXT = 16_384;

interface Key {
  readonly id: Buffer;
  readonly secret: KeyObject;
}

/**
 * Resume tokens: AES-256-GCM under a key that all gateways share, with the account as associated data, so that nobody reads
 * one, makes one, or uses another's. The length depends on the number of subscriptions alone. One that was sealed in another life of the
 * journals names positions at which other events stand now, and is none.
 */
export class ResumeTokens {
  private readonly keys: readonly Key[];

  /** Hexadecimal keys; the first one seals, all of them open. A nonce must never come twice under one key. */
  constructor(
    keys: readonly string[],
    private readonly life: JournalLife,
    private readonly newNonce: (bytes: number) => Buffer = randomBytes,
  ) {
    this.keys = keys.map((hex) => {
      const bytes = Buffer.from(hex, 'hex');
      const id = createHash('sha256').update(bytes).digest().subarray(0, KEY_ID_BYTES);
      // To make a key object of bytes takes three times as long as all else of a token, so that is done once.
      return { secret: createSecretKey(bytes), id };
    });
  }

  seal(point: ResumePoint, account: string, nowMillis: number): string {
    const [key] = this.keys;
    if (key === undefined) throw new Error('there is no key for resume tokens');
    const nonce = this.newNonce(NONCE_BYTES);
    const cipher = createCipheriv(CIPHER, key.secret, nonce);
    cipher.setAAD(Buffer.from(account));
    const sealed = [cipher.update(encodePoint(point, nowMillis, this.life.id)), cipher.final()];
    const bytes = Buffer.concat([Buffer.of(VERSION), key.id, nonce, ...sealed, cipher.getAuthTag()]);
    return bytes.toString('base64url');
  }

  open(token: string, account: string, nowMillis: number): Opened {
    const plain = this.decrypt(token, account);
    if (plain === undefined) return { ok: false, error: 'INVALID' };
    const issued = issuedMillisOf(plain);
    if (issued > nowMillis + SKEW_MILLIS) return { ok: false, error: 'INVALID' };
    if (issued + LIFE_MILLIS < nowMillis) return { ok: false, error: 'EXPIRED' };
    if (lifeOf(plain) !== this.life.id) return { ok: false, error: 'INVALID' };
    return { ok: true, point: decodePoint(plain) };
  }

  private decrypt(token: string, account: string): Buffer | undefined {
    if (token.length > LONGEST_TEXT) return undefined;
    const bytes = Buffer.from(token, 'base64url');
    if (bytes.toString('base64url') !== token || bytes.length < HEAD_BYTES + TAG_BYTES) return undefined;
    if (bytes[0] !== VERSION) return undefined;
    const id = bytes.subarray(1, 1 + KEY_ID_BYTES);
    const key = this.keys.find((candidate) => candidate.id.equals(id));
    if (key === undefined) return undefined;
    const end = bytes.length - TAG_BYTES;
    const decipher = createDecipheriv(CIPHER, key.secret, bytes.subarray(1 + KEY_ID_BYTES, HEAD_BYTES));
    decipher.setAAD(Buffer.from(account));
    decipher.setAuthTag(bytes.subarray(end));
    try {
      return Buffer.concat([decipher.update(bytes.subarray(HEAD_BYTES, end)), decipher.final()]);
    } catch {
      return undefined;
    }
  }
}
