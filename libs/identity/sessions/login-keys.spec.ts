import { describe, expect, it } from '@jest/globals';
import { failureKeys, networkOf } from './login-keys.js';

describe('failed logins are counted', () => {
  it('under the e-mail address, however it is spelt, and under the network address', () => {
    const [email, address] = failureKeys('Ann@Test.Sotto', '10.0.0.1');
    expect(failureKeys('ann@test.sotto', '10.0.0.2')[0]).toBe(email);
    expect(failureKeys('bob@test.sotto', '10.0.0.1')).toEqual([expect.not.stringMatching(email!), address]);
  });

  it('apart, even when one looks like the other', () => {
    const [email, address] = failureKeys('10.0.0.1', '10.0.0.1');
    expect(email).not.toBe(address);
  });

  it('under keys of one size that do not show what was typed', () => {
    for (const typed of ['', 'hunter2', '\u0000', 'x'.repeat(100_000)]) {
      for (const key of failureKeys(typed, undefined)) expect(key).toMatch(/^[\w-]{43}$/);
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
