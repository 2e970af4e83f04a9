import { createHash } from 'node:crypto';
import { expect, it } from '@jest/globals';
import { homeShard, shardOfCreate, shardOfId } from './routing.js';

/** The contract, computed differently: the first eight bytes of the hash as one large number, and its remainder. */
function remainder(text: Buffer): number {
  const hex = createHash('sha256').update(text).digest('hex').slice(0, 16);
  return Number(BigInt(`0x${hex}`) % 3n);
}

const ACCOUNTS = Array.from({ length: 300 }, (_, index) => `account-${index}`);

it('a create is routed by account and key, with a zero byte between them', () => {
  for (const account of ACCOUNTS) {
    const expected = remainder(Buffer.concat([Buffer.from(account), Buffer.from([0]), Buffer.from('key')]));
    expect(shardOfCreate(account, 'key')).toBe(expected);
  }
  expect(
    ACCOUNTS.some((account) => shardOfCreate(account, 'key') !== shardOfCreate(account, 'other-key')),
  ).toBe(true);
});

it('the home shard of an account depends on its id alone', () => {
  for (const account of ACCOUNTS) expect(homeShard(account)).toBe(remainder(Buffer.from(account)));
});

it.each([homeShard, (account: string) => shardOfCreate(account, 'key')])('all shards are used', (shardOf) => {
  const counts = [0, 1, 2].map((shard) => ACCOUNTS.filter((account) => shardOf(account) === shard).length);
  for (const count of counts) expect(count).toBeGreaterThan(60);
});

it('the shard is the first digit of an id', () => {
  expect(shardOfId('1a000000-0000-8000-8000-000000000001')).toBe(1);
});
