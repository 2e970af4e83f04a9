import { createHash, createPublicKey, verify, type KeyObject } from 'node:crypto';
import {
  keyIdOf,
  SIGNATURE_ALGORITHM,
  signedText,
  type ReplayBundle,
} from '#libs/auction/rules/replay/bundle.js';

const SIGNATURE = /^[0-9a-f]{128}$/;

export function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** `x` of each key in a PEM file, a JWK or a set of JWKs. */
export function publicKeysIn(text: string): string[] {
  if (text.trimStart().startsWith('{')) {
    const parsed = JSON.parse(text) as { readonly keys?: readonly unknown[] };
    return (parsed.keys ?? [parsed]).map((key) => {
      const { x } = key as { readonly x?: unknown };
      if (typeof x !== 'string') throw new Error('a key has no x');
      keyObject(x);
      return x;
    });
  }
  const { crv, x } = createPublicKey(text).export({ format: 'jwk' });
  if (crv !== SIGNATURE_ALGORITHM || x === undefined)
    throw new Error(`it is not an ${SIGNATURE_ALGORITHM} key`);
  return [x];
}

/**
 * What is wrong with the signature, or undefined. `trusted` are the keys that the reader accepts as the
 * service's.
 */
export function signatureFault(
  bundle: ReplayBundle,
  trusted: readonly string[] | undefined,
): string | undefined {
  const { key_id: keyId, public_key: publicKey, signature } = bundle.attestation;
  if (keyIdOf(publicKey, sha256) !== keyId) return 'its key_id is not that of its public_key';
  if (trusted !== undefined && !trusted.includes(publicKey))
    return `it is signed with another key (${keyId})`;
  return SIGNATURE.test(signature) && isSigned(signedText(bundle), signature, publicKey)
    ? undefined
    : 'its signature does not fit: the list of records, or something outside the records, was altered';
}

function isSigned(text: string, signature: string, publicKey: string): boolean {
  try {
    return verify(null, Buffer.from(text), keyObject(publicKey), Buffer.from(signature, 'hex'));
  } catch {
    return false;
  }
}

function keyObject(x: string): KeyObject {
  return createPublicKey({ key: { kty: 'OKP', crv: SIGNATURE_ALGORITHM, x }, format: 'jwk' });
}
