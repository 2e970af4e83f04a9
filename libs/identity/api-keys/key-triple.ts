import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

/** The three parts of an API key. The user sees the secrets only once. */
export interface KeyTriple {
  readonly client_id: string;
  readonly api_key: string;
  readonly api_secret: string;
}

const PREFIX = 'sotto_ck_';
const CLIENT_ID = /^sotto_ck_[0-9a-f]{24}$/;
const HEX_64 = /^[0-9a-f]{64}$/;
const ID_BYTES = 12;
const SECRET_BYTES = 32;

export function isClientId(text: string): boolean {
  return CLIENT_ID.test(text);
}

export function isWellFormed({ client_id, api_key, api_secret }: KeyTriple): boolean {
  return CLIENT_ID.test(client_id) && HEX_64.test(api_key) && HEX_64.test(api_secret);
}

export function newTriple(client_id: string = PREFIX + randomBytes(ID_BYTES).toString('hex')): KeyTriple {
  const secret = (): string => randomBytes(SECRET_BYTES).toString('hex');
  return { client_id, api_key: secret(), api_secret: secret() };
}

/** Computes the stored digest of a triple. Its HMAC key is not in the database, so the digests alone are useless. */
export class TripleSeal {
  private readonly key: Buffer;

  /** 256 bits in hexadecimal. */
  constructor(hex: string) {
    if (!HEX_64.test(hex.toLowerCase())) throw new RangeError('the secret for API keys must have 256 bits');
    this.key = Buffer.from(hex, 'hex');
  }

  digestOf({ client_id, api_key, api_secret }: KeyTriple): Buffer {
    return createHmac('sha256', this.key).update(`${client_id}\n${api_key}\n${api_secret}`).digest();
  }
}

export function isSameDigest(left: Buffer, right: Buffer): boolean {
  return left.length === right.length && timingSafeEqual(left, right);
}
