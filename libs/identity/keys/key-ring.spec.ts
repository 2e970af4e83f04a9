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
  let coming: SigningKey;
  let ring: KeyRing;

  beforeAll(() => {
    [old, current, coming] = [keyFrom(100), keyFrom(200), keyFrom(300)];
    ring = new KeyRing([current, coming, old]);
  });

  it('signs with the newest active key, by the time alone', () => {
    expect([199, 200, 299, 300].map((now) => ring.signer(now)?.kid)).toEqual([
      old.kid,
      current.kid,
      current.kid,
      coming.kid,
    ]);
  });

  it('knows which key comes next', () => {
    expect([150, 250, 300].map((now) => ring.next(now)?.kid)).toEqual([current.kid, coming.kid, undefined]);
  });

  it('knows the use of each key', () => {
    expect(ring.states(250)).toEqual(
      new Map([
        [coming.kid, 'NEXT'],
        [current.kid, 'ACTIVE'],
        [old.kid, 'RETIRED'],
      ]),
    );
  });

  it('signs with the first key even by a slow clock', () => {
    expect(new KeyRing([old]).signer(99)).toBe(old);
    expect(new KeyRing([old]).next(99)).toBeUndefined();
    expect(new KeyRing([]).signer(99)).toBeUndefined();
  });

  it('publishes every key without its private part', () => {
    const { keys } = ring.jwks();
    expect(keys.map(({ kid }) => kid)).toEqual([coming.kid, current.kid, old.kid]);
    for (const key of keys) {
      expect(Object.keys(key).sort()).toEqual(['alg', 'e', 'kid', 'kty', 'n', 'use']);
      expect(key).toMatchObject({ kty: 'RSA', use: 'sig', alg: 'RS256', e: 'AQAB' });
    }
  });

  it('names a key by its thumbprint', () => {
    const times = { createdAt: 5, activeFrom: 6 };
    expect(signingKeyOf(old.privateKey, times).kid).toBe(old.kid);
    expect(new Set([old.kid, current.kid, coming.kid]).size).toBe(3);
  });
});
