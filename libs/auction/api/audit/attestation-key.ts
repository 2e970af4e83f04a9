import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign } from 'node:crypto';
import { keyIdOf } from '../../rules/replay/bundle.js';
import type { BundleSigner } from '../../rules/replay/seal.js';

/** The prefix of the 32 key bytes in PKCS #8 for Ed25519 (RFC 8410). */
const PKCS8_HEAD = Buffer.from('302e020100300506032b657004220420', 'hex');

export function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** Signs replay bundles for the service. Ed25519 is deterministic: one text has one signature. */
export class AttestationKey implements BundleSigner {
  readonly publicKey: string;
  readonly keyId: string;
  private readonly privateKey: KeyObject;

  /** Bundles signed with `former` keys can be verified as long as those keys are passed. */
  constructor(
    seed: Buffer,
    private readonly former: readonly AttestationKey[] = [],
  ) {
    this.privateKey = createPrivateKey({
      key: Buffer.concat([PKCS8_HEAD, seed]),
      format: 'der',
      type: 'pkcs8',
    });
    const { x } = createPublicKey(this.privateKey).export({ format: 'jwk' });
    if (x === undefined) throw new Error('an Ed25519 public key without x');
    this.publicKey = x;
    this.keyId = keyIdOf(x, sha256);
  }

  sign(text: string): string {
    return sign(null, Buffer.from(text), this.privateKey).toString('hex');
  }

  get publicJwks(): readonly object[] {
    return [this.jwk(), ...this.former.map((key) => key.jwk())];
  }

  private jwk(): object {
    return { kty: 'OKP', crv: 'Ed25519', alg: 'EdDSA', use: 'sig', kid: this.keyId, x: this.publicKey };
  }
}
