import { createPublicKey, verify } from 'node:crypto';
import { expect, it } from '@jest/globals';
import { AttestationKey } from './attestation-key.js';

const old = new AttestationKey(Buffer.alloc(32, 1));
const rotated = new AttestationKey(Buffer.alloc(32, 2), [old]);

function isSignedBy(jwk: object, text: string, signature: string): boolean {
  const key = createPublicKey({ key: { ...jwk }, format: 'jwk' });
  return verify(null, Buffer.from(text), key, Buffer.from(signature, 'hex'));
}

it('signs with the first key and publishes all keys, each under the id that its bundles name', () => {
  const [first, former] = rotated.publicJwks;
  expect([first, former]).toMatchObject([{ kid: rotated.keyId }, { kid: old.keyId }]);
  expect(isSignedBy(first!, 'bundle', rotated.sign('bundle'))).toBe(true);
  expect(isSignedBy(former!, 'bundle', rotated.sign('bundle'))).toBe(false);
  expect(isSignedBy(former!, 'bundle', old.sign('bundle'))).toBe(true);
});
