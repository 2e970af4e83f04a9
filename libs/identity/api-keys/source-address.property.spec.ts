import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { isAddress, isListed, plainAddress } from './source-address.js';

const ip4 = fc.ipV4();
const ip6 = fc.ipV6().filter((address) => !address.includes('.'));

describe('a list of addresses', () => {
  it('allows every address if it is empty', () => {
    fc.assert(fc.property(fc.oneof(ip4, ip6), (peer) => isListed([], peer)));
  });

  it('compares exact text, and for mapped addresses the text of the IPv4 address', () => {
    fc.assert(
      fc.property(fc.array(ip4, { minLength: 1 }), ip4, (list, peer) => {
        expect(isListed(list, peer)).toBe(list.includes(peer));
        expect(isListed(list, `::ffff:${peer}`)).toBe(list.includes(peer));
        expect(isListed(list, `::FFFF:${peer}`)).toBe(list.includes(peer));
      }),
    );
    expect(isListed(['127.0.0.1'], '127.0.7.9')).toBe(false);
  });

  it('does not accept networks', () => {
    fc.assert(
      fc.property(ip4, fc.integer({ min: 0, max: 32 }), (peer, bits) => {
        expect(isAddress(`${peer}/${bits}`)).toBe(false);
        expect(isListed([`${peer}/${bits}`], peer)).toBe(false);
      }),
    );
  });
});

it('an address that is not mapped stays unchanged', () => {
  fc.assert(fc.property(fc.oneof(ip4, ip6), (address) => plainAddress(address) === address));
  fc.assert(fc.property(fc.oneof(ip4, ip6), (address) => isAddress(address)));
  for (const other of ['', 'localhost', '1.2.3', '1.2.3.4 ', 'fe80::1%eth0'])
    expect(isAddress(other)).toBe(false);
});
