import { createSecretKey, hkdfSync, timingSafeEqual, type KeyObject } from 'node:crypto';

const KEY_BYTES = 32;

/** From the same secret, another key for each purpose: no use of one can be made to give what another would. */
export function sealingKey(secret: Buffer, purpose: string): KeyObject {
  return createSecretKey(Buffer.from(hkdfSync('sha256', secret, Buffer.alloc(0), purpose, KEY_BYTES)));
}

/** In a time that does not tell how much of it is right. */
export function isOneOf(seals: readonly Buffer[], given: Buffer): boolean {
  return seals.some((seal) => seal.length === given.length && timingSafeEqual(seal, given));
}
