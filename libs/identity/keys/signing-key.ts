import { createHash, createPublicKey, generateKeyPair, type KeyObject } from 'node:crypto';
import { promisify } from 'node:util';

const MODULUS_BITS = 2_048;

export interface SigningKey {
  /** The RFC 7638 thumbprint of the public key, which is unique. */
  readonly kid: string;
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
  readonly createdAt: number;
  /** In seconds since 1970. Until then the key is only published, so that every verifier has it before it signs. */
  readonly activeFrom: number;
}

export interface PublicJwk {
  readonly kty: 'RSA';
  readonly use: 'sig';
  readonly alg: 'RS256';
  readonly kid: string;
  readonly n: string;
  readonly e: string;
}

export async function generatePrivateKey(): Promise<KeyObject> {
  const pair = await promisify(generateKeyPair)('rsa', { modulusLength: MODULUS_BITS });
  return pair.privateKey;
}

export function signingKeyOf(
  privateKey: KeyObject,
  times: { readonly createdAt: number; readonly activeFrom: number },
): SigningKey {
  const publicKey = createPublicKey(privateKey);
  return { kid: thumbprint(publicKey), privateKey, publicKey, ...times };
}

export function publicJwk({ kid, publicKey }: SigningKey): PublicJwk {
  return { kty: 'RSA', use: 'sig', alg: 'RS256', kid, ...modulusOf(publicKey) };
}

function thumbprint(publicKey: KeyObject): string {
  const { e, n } = modulusOf(publicKey);
  return createHash('sha256')
    .update(JSON.stringify({ e, kty: 'RSA', n }))
    .digest('base64url');
}

function modulusOf(publicKey: KeyObject): { n: string; e: string } {
  const { n, e } = publicKey.export({ format: 'jwk' });
  if (n === undefined || e === undefined) throw new TypeError('a signing key must be an RSA key');
  return { n, e };
}
