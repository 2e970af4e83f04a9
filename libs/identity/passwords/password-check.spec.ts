import { beforeEach, describe, expect, it } from '@jest/globals';
import { PasswordCheck } from './password-check.js';
import { deriveKey, type Derive } from './derive.js';
import { PRODUCTION_COST, type PasswordCost } from './password-cost.js';
import { hashPassword } from './password-hash.js';

const COST: PasswordCost = { logN: 5, r: 8, p: 2 };

describe('checking a password', () => {
  let work: { readonly cost: PasswordCost; readonly saltBytes: number; readonly length: number }[];

  const recorded: Derive = (password, salt, length, cost) => {
    work.push({ cost, saltBytes: salt.length, length });
    return deriveKey(password, salt, length, cost);
  };
  const check = new PasswordCheck(COST, recorded);

  beforeEach(() => {
    work = [];
  });

  it('accepts the right password and refuses a wrong one', async () => {
    const hash = await hashPassword('right', COST);
    expect(await check.isRight('right', hash)).toBe(true);
    expect(await check.isRight('wrong', hash)).toBe(false);
  });

  it('does the same work for an unknown user, a damaged hash and a wrong password', async () => {
    const hash = await hashPassword('right', COST);
    for (const stored of [hash, undefined, 'damaged'])
      expect(await check.isRight('wrong', stored)).toBe(false);
    expect(work).toEqual(Array(3).fill({ cost: COST, saltBytes: 16, length: 32 }));
  });

  it('costs the same as new hashes in production, also for an unknown user', async () => {
    const production = new PasswordCheck(PRODUCTION_COST, recorded);
    await production.isRight('wrong', undefined);
    await production.isRight('wrong', await hashPassword('right'));
    expect(work.map(({ cost }) => cost)).toEqual([PRODUCTION_COST, PRODUCTION_COST]);
  });

  it('refuses every password of a user without a hash, even if the decoy matches', async () => {
    const derived: Buffer[] = [];
    const alwaysSame: Derive = (_password, _salt, length) => {
      derived.push(Buffer.alloc(length));
      return Promise.resolve(Buffer.alloc(length));
    };
    const alwaysMatching = new PasswordCheck(COST, alwaysSame);
    Object.assign(alwaysMatching, { decoy: { cost: COST, salt: Buffer.alloc(16), key: Buffer.alloc(32) } });
    expect(await alwaysMatching.isRight('anything', undefined)).toBe(false);
    expect(derived).toHaveLength(1);
  });
});
