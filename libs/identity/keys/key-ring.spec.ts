import { generateKeyPairSync } from 'node:crypto';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { KeyRing } from './key-ring.js';
import { signingKeyOf, type SigningKey } from './signing-key.js';

function keyFrom(activeFrom: number): SigningKey {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
  return signingKeyOf(privateKey, { createdAt: 0, activeFrom });
}

describe('a key ring', () => {
  let old: SigningKey;
  let current: SigningKey;
  let announced: SigningKey;
  let ring: KeyRing;

  beforeAll(() => {
    [old, current, announced] = [keyFrom(100), keyFrom(200), keyFrom(300)];
    ring = new KeyRing([current, announced, old]);
  });

  it('signs with the newest key that is active at the time', () => {
    expect([199, 200, 299, 300].map((now) => ring.signer(now)?.kid)).toEqual([
      old.kid,
      current.kid,
      current.kid,
      announced.kid,
    ]);
  });

  it('gives the key that becomes active next', () => {
    expect([150, 250, 300].map((now) => ring.next(now)?.kid)).toEqual([
      current.kid,
      announced.kid,
      undefined,
    ]);
  });

  it('gives the state of each key', () => {
    expect(ring.states(250)).toEqual(
      new Map([
        [announced.kid, 'NEXT'],
        [current.kid, 'ACTIVE'],
        [old.kid, 'RETIRED'],
      ]),
    );
  });

  it('signs with the first key even if a slow clock says that it is not active yet', () => {
    expect(new KeyRing([old]).signer(99)).toBe(old);
    expect(new KeyRing([old]).next(99)).toBeUndefined();
    expect(new KeyRing([]).signer(99)).toBeUndefined();
  });

  it('publishes every key without its private part', () => {
    const { keys } = ring.jwks();
    expect(keys.map(({ kid }) => kid)).toEqual([announced.kid, current.kid, old.kid]);
    for (const key of keys) {
      expect(Object.keys(key).sort()).toEqual(['alg', 'e', 'kid', 'kty', 'n', 'use']);
      expect(key).toMatchObject({ kty: 'RSA', use: 'sig', alg: 'RS256', e: 'AQAB' });
    }
  });

  it('names a key by its thumbprint', () => {
    const times = { createdAt: 5, activeFrom: 6 };
    expect(signingKeyOf(old.privateKey, times).kid).toBe(old.kid);
    expect(new Set([old.kid, current.kid, announced.kid]).size).toBe(3);
  });
});
