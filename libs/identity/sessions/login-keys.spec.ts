import { describe, expect, it } from '@jest/globals';
import { loginKeys } from './login-service.js';

describe('attempts to log in are counted', () => {
  it('under the normalized e-mail address, and under the network address', () => {
    const { email, network } = loginKeys('Ann@Test.Sotto', '10.0.0.1');
    expect(loginKeys('ann@test.sotto', '10.0.0.2').email).toBe(email);
    expect(loginKeys('bob@test.sotto', '10.0.0.1')).toEqual({
      email: expect.not.stringMatching(email),
      network,
    });
  });

  it('separately, even if both texts are equal', () => {
    const { email, network } = loginKeys('10.0.0.1', '10.0.0.1');
    expect(email).not.toBe(network);
  });

  it('under keys of a fixed size that do not reveal the input', () => {
    for (const typed of ['', 'hunter2', '\u0000', 'x'.repeat(100_000)]) {
      for (const key of Object.values(loginKeys(typed, undefined))) expect(key).toMatch(/^[\w-]{43}$/);
    }
  });
});
