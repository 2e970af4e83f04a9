import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createSecretKey,
  randomBytes,
  type KeyObject,
} from 'node:crypto';

/** How a service encodes the position of a connection. `decode` receives only output of `encode`. */
export interface ResumePointCodec<Point> {
  encode(point: Point): Buffer;
  decode(bytes: Buffer): Point;
}

export type OpenedToken<Point> =
  | { readonly ok: true; readonly point: Point }
  | { readonly ok: false; readonly error: 'INVALID' | 'EXPIRED' };

const CIPHER = 'aes-256-gcm';
const VERSION = 1;
const KEY_ID_BYTES = 4;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const HEAD_BYTES = 1 + KEY_ID_BYTES + NONCE_BYTES;
const TIME_BYTES = 8;
const UUID_BYTES = 16;
const LIFE_MILLIS = 86_400_000;
/** The clocks of two gateways may differ by this much. */
const SKEW_MILLIS = 60_000;
const LONGEST_TEXT = 16_384;

interface Key {
  readonly id: Buffer;
  readonly secret: KeyObject;
}

/**
 * Resume tokens: AES-256-GCM under a key that all processes share, with the account as associated data. No client can read or
 * forge one, or use another's. A token of another incarnation of the journals is invalid, because its positions differ.
 */
export class ResumeTokens<Point> {
  private readonly keys: readonly Key[];

  /** Keys in hexadecimal: the first one encrypts, all of them decrypt. A nonce must never be used twice with one key. */
  constructor(
    keys: readonly string[],
    private readonly codec: ResumePointCodec<Point>,
    private readonly incarnation: { readonly id: string },
    private readonly newNonce: (bytes: number) => Buffer = randomBytes,
  ) {
    this.keys = keys.map((hex) => {
      const bytes = Buffer.from(hex, 'hex');
      const id = createHash('sha256').update(bytes).digest().subarray(0, KEY_ID_BYTES);
      // Creating a key object takes three times as long as the rest of a token, so it is done once.
      return { secret: createSecretKey(bytes), id };
    });
  }

  seal(point: Point, account: string, nowMillis: number): string {
    const [key] = this.keys;
    if (key === undefined) throw new Error('there is no key for resume tokens');
    const nonce = this.newNonce(NONCE_BYTES);
    const cipher = createCipheriv(CIPHER, key.secret, nonce);
    cipher.setAAD(Buffer.from(account));
    const sealed = [cipher.update(this.plain(point, nowMillis)), cipher.final()];
    const bytes = Buffer.concat([Buffer.of(VERSION), key.id, nonce, ...sealed, cipher.getAuthTag()]);
    return bytes.toString('base64url');
  }

  open(token: string, account: string, nowMillis: number): OpenedToken<Point> {
    const plain = this.decrypt(token, account);
    if (plain === undefined) return { ok: false, error: 'INVALID' };
    const issued = plain.readDoubleBE(0);
    if (issued > nowMillis + SKEW_MILLIS) return { ok: false, error: 'INVALID' };
    if (issued + LIFE_MILLIS < nowMillis) return { ok: false, error: 'EXPIRED' };
    const end = plain.length - UUID_BYTES;
    if (!plain.subarray(end).equals(uuidBytes(this.incarnation.id))) return { ok: false, error: 'INVALID' };
    return { ok: true, point: this.codec.decode(plain.subarray(TIME_BYTES, end)) };
  }

  /** The time of issue, the point, and the incarnation of the journals. */
  private plain(point: Point, nowMillis: number): Buffer {
    const issued = Buffer.alloc(TIME_BYTES);
    issued.writeDoubleBE(nowMillis);
    return Buffer.concat([issued, this.codec.encode(point), uuidBytes(this.incarnation.id)]);
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

function uuidBytes(uuid: string): Buffer {
  return Buffer.from(uuid.replaceAll('-', ''), 'hex');
}
