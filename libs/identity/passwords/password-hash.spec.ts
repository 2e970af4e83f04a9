import { describe, expect, it } from '@jest/globals';
import { deriveKey } from './derive.js';
import { ARGON2, PRODUCTION_COST, SCRYPT } from './password-cost.js';
import { hashPassword, matches, parsePasswordHash, type PasswordHash } from './password-hash.js';

const CHEAP = { logN: 4, r: 8, p: 1 };

function parsed(text: string): PasswordHash {
  const hash = parsePasswordHash(text);
  if (hash === undefined) throw new Error(`${text} is no hash`);
  return hash;
}

describe('a password hash', () => {
  it('accepts its own password and no other', async () => {
    const hash = parsed(await hashPassword('tr0ub4dor', CHEAP));
    expect(await matches('tr0ub4dor', hash, deriveKey)).toBe(true);
    expect(await matches('tr0ub4dor ', hash, deriveKey)).toBe(false);
    expect(await matches('', hash, deriveKey)).toBe(false);
  });

  it('is salted', async () => {
    expect(await hashPassword('same', CHEAP)).not.toBe(await hashPassword('same', CHEAP));
  });

  it('contains its cost, so that hashes with other costs can still be checked', async () => {
    const text = await hashPassword('old', { logN: 5, r: 4, p: 2 });
    expect(text).toMatch(/^\$scrypt\$ln=5,r=4,p=2\$/);
    expect(parsed(text).cost).toEqual({ logN: 5, r: 4, p: 2 });
    expect(await matches('old', parsed(text), deriveKey)).toBe(true);
  });

  it('has the production cost by default', async () => {
    const text = await hashPassword('dear');
    expect(parsed(text).cost).toEqual(PRODUCTION_COST);
    expect(await matches('dear', parsed(text), deriveKey)).toBe(true);
  });

  it.each([ARGON2, SCRYPT])('is no weaker than OWASP recommends: %j', async (cost) => {
    const work = 'logN' in cost ? 2 ** cost.logN * cost.r * cost.p : cost.memoryKib * cost.passes;
    expect(work).toBeGreaterThanOrEqual('logN' in cost ? 2 ** 14 * 8 * 5 : 19 * 1_024 * 2);
    const hash = parsed(await hashPassword('dear', cost));
    expect(hash.cost).toEqual(cost);
    expect(await matches('dear', hash, deriveKey)).toBe(true);
    expect(await matches('deer', hash, deriveKey)).toBe(false);
  });

  it('accepts the same characters in another Unicode form', async () => {
    const hash = parsed(await hashPassword('caf\u00e9', CHEAP));
    expect(await matches('cafe\u0301', hash, deriveKey)).toBe(true);
  });

  it.each([
    ['', 'nothing'],
    ['correct horse', 'plain text'],
    ['$2b$12$abcdefghijklmnopqrstuv', 'another scheme'],
    [`$scrypt$ln=30,r=8,p=1$${'A'.repeat(22)}$${'A'.repeat(43)}`, 'a cost that would exhaust the machine'],
    [`$scrypt$ln=4,r=99,p=1$${'A'.repeat(22)}$${'A'.repeat(43)}`, 'blocks that would exhaust the machine'],
    [`$scrypt$ln=0,r=8,p=1$${'A'.repeat(22)}$${'A'.repeat(43)}`, 'no work at all'],
    [`$scrypt$ln=4,r=8,p=1$${'A'.repeat(22)}$${'A'.repeat(42)}`, 'a key cut short'],
    [
      `$argon2id$v=19$m=999999,t=2,p=1$${'A'.repeat(22)}$${'A'.repeat(43)}`,
      'memory that would exhaust the machine',
    ],
    [`$argon2id$v=19$m=64,t=0,p=1$${'A'.repeat(22)}$${'A'.repeat(43)}`, 'no passes'],
    [`$argon2id$v=19$m=7,t=1,p=1$${'A'.repeat(22)}$${'A'.repeat(43)}`, 'less memory than Argon2 allows'],
    [`$argon2i$v=19$m=64,t=1,p=1$${'A'.repeat(22)}$${'A'.repeat(43)}`, 'another Argon2'],
    [`$argon2id$v=16$m=64,t=1,p=1$${'A'.repeat(22)}$${'A'.repeat(43)}`, 'an older Argon2'],
  ])('is not read from %j: %s', (text) => {
    expect(parsePasswordHash(text)).toBeUndefined();
  });
});
