import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { KeySeal } from './key-seal.js';

const seal = new KeySeal('ab'.repeat(32));
const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });

describe('an encrypted key', () => {
  it('decrypts with the same key encryption key under the same name', () => {
    const opened = seal.open(seal.seal(privateKey, 'kid-1'), 'kid-1');
    expect(opened?.equals(privateKey)).toBe(true);
  });

  it('does not reveal the key', () => {
    const der = privateKey.export({ format: 'der', type: 'pkcs8' });
    const sealed = seal.seal(privateKey, 'kid-1');
    expect(sealed.includes(der.subarray(100, 132))).toBe(false);
    expect(sealed.equals(seal.seal(privateKey, 'kid-1'))).toBe(false);
  });

  it('does not decrypt with another key encryption key, or under another name', () => {
    const sealed = seal.seal(privateKey, 'kid-1');
    expect(new KeySeal('cd'.repeat(32)).open(sealed, 'kid-1')).toBeUndefined();
    expect(seal.open(sealed, 'kid-2')).toBeUndefined();
  });

  it('decrypts with a previous key while that is configured; new ones are encrypted with the first', () => {
    const before = seal.seal(privateKey, 'kid-1');
    const rotated = new KeySeal('cd'.repeat(32), 'ab'.repeat(32));
    expect(rotated.open(before, 'kid-1')?.equals(privateKey)).toBe(true);
    const after = rotated.seal(privateKey, 'kid-1');
    expect(seal.open(after, 'kid-1')).toBeUndefined();
    expect(new KeySeal('cd'.repeat(32)).open(after, 'kid-1')?.equals(privateKey)).toBe(true);
  });

  it('does not decrypt if it is damaged or invalid', () => {
    const sealed = seal.seal(privateKey, 'kid-1');
    for (const at of [0, 12, sealed.length - 1]) {
      const damaged = Buffer.from(sealed);
      damaged[at]! ^= 1;
      expect(seal.open(damaged, 'kid-1')).toBeUndefined();
    }
    expect(seal.open(Buffer.alloc(0), 'kid-1')).toBeUndefined();
    expect(seal.open(sealed.subarray(0, 20), 'kid-1')).toBeUndefined();
  });
});
