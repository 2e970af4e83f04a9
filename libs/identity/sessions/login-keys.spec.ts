import { describe, expect, it } from '@jest/globals';
import { loginKeys, networkOf } from './login-keys.js';

describe('attempts to log in are counted', () => {
  it('under the e-mail address, however it is spelt, and under the network address', () => {
    const { email, network } = loginKeys('Ann@Test.Sotto', '10.0.0.1');
    expect(loginKeys('ann@test.sotto', '10.0.0.2').email).toBe(email);
    expect(loginKeys('bob@test.sotto', '10.0.0.1')).toEqual({
      email: expect.not.stringMatching(email),
      network,
    });
  });

  it('apart, even when one looks like the other', () => {
    const { email, network } = loginKeys('10.0.0.1', '10.0.0.1');
    expect(email).not.toBe(network);
  });

  it('under keys of one size that do not show what was typed', () => {
    for (const typed of ['', 'hunter2', '\u0000', 'x'.repeat(100_000)]) {
      for (const key of Object.values(loginKeys(typed, undefined))) expect(key).toMatch(/^[\w-]{43}$/);
    }
  });
});

describe('the network of an address', () => {
  it.each([
    ['10.1.2.3', '10.1.2.3'],
    ['::ffff:10.1.2.3', '10.1.2.3'],
    ['::FFFF:10.1.2.3', '10.1.2.3'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:0DB8:0001:0002::99', '2001:db8:1:2::/64'],
    ['2001:db8::5', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['/run/edge.sock', '/run/edge.sock'],
  ])('%s is %s', (address, network) => {
    expect(networkOf(address)).toBe(network);
  });
});
