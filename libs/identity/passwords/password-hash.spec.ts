import { describe, expect, it } from '@jest/globals';
import {
  deriveScrypt,
  hashPassword,
  matches,
  parsePasswordHash,
  PRODUCTION_COST,
  type PasswordHash,
} from './password-hash.js';

const CHEAP = { logN: 4, r: 8, p: 1 };

function parsed(text: string): PasswordHash {
  const hash = parsePasswordHash(text);
  if (hash === undefined) throw new Error(`${text} is no hash`);
  return hash;
}

describe('a password hash', () => {
  it('accepts its own password and no other', async () => {
    const hash = parsed(await hashPassword('tr0ub4dor', CHEAP));
    expect(await matches('tr0ub4dor', hash, deriveScrypt)).toBe(true);
    expect(await matches('tr0ub4dor ', hash, deriveScrypt)).toBe(false);
    expect(await matches('', hash, deriveScrypt)).toBe(false);
  });

  it('is salted', async () => {
    expect(await hashPassword('same', CHEAP)).not.toBe(await hashPassword('same', CHEAP));
  });

  it('carries its own cost, so that other costs stay readable', async () => {
    const text = await hashPassword('old', { logN: 5, r: 4, p: 2 });
    expect(text).toMatch(/^\$scrypt\$ln=5,r=4,p=2\$/);
    expect(parsed(text).cost).toEqual({ logN: 5, r: 4, p: 2 });
    expect(await matches('old', parsed(text), deriveScrypt)).toBe(true);
  });

  it('is made and checked at the production cost unless told otherwise', async () => {
    const text = await hashPassword('dear');
    expect(parsed(text).cost).toEqual(PRODUCTION_COST);
    expect(await matches('dear', parsed(text), deriveScrypt)).toBe(true);
  });

  it('takes the same characters for the same password, however they were typed', async () => {
    const hash = parsed(await hashPassword('caf\u00e9', CHEAP));
    expect(await matches('cafe\u0301', hash, deriveScrypt)).toBe(true);
  });

  it.each([
    ['', 'nothing'],
    ['correct horse', 'plain text'],
    ['$2b$12$abcdefghijklmnopqrstuv', 'another scheme'],
    [`$scrypt$ln=30,r=8,p=1$${'A'.repeat(22)}$${'A'.repeat(43)}`, 'a cost that would exhaust the machine'],
    [`$scrypt$ln=4,r=99,p=1$${'A'.repeat(22)}$${'A'.repeat(43)}`, 'blocks that would'],
    [`$scrypt$ln=0,r=8,p=1$${'A'.repeat(22)}$${'A'.repeat(43)}`, 'no work at all'],
    [`$scrypt$ln=4,r=8,p=1$${'A'.repeat(22)}$${'A'.repeat(42)}`, 'a key cut short'],
  ])('is not read from %j: %s', (text) => {
    expect(parsePasswordHash(text)).toBeUndefined();
  });
});
