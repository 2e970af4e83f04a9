import { expect, it } from '@jest/globals';
import { shardOfCreate } from '../protocol/routing.js';
import { areDistinct, IdFactory } from './ids.js';

const ids = new IdFactory(Buffer.alloc(32, 1));
const elsewhere = new IdFactory(Buffer.alloc(32, 2));
const UUID_8 = /^[012][0-9a-f]{7}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

it('the same call gives the same id on any machine that has the key', () => {
  expect(ids.auction('ann', 'key')).toBe(new IdFactory(Buffer.alloc(32, 1)).auction('ann', 'key'));
  expect(ids.auction('ann', 'key')).not.toBe(elsewhere.auction('ann', 'key'));
});

it('ids of an auction, its quotes and their awards begin with the digit of the shard', () => {
  for (let call = 0; call < 50; call += 1) {
    const auction = ids.auction('ann', `key-${call}`);
    expect(auction).toMatch(UUID_8);
    expect(Number(auction[0])).toBe(shardOfCreate('ann', `key-${call}`));
    const quote = ids.quote(auction, 'bob', 'key');
    expect(quote).toMatch(UUID_8);
    expect([quote[0], ids.award(quote)[0]]).toEqual([auction[0], auction[0]]);
    expect(ids.award(quote)).toMatch(UUID_8);
  }
});

it('parts that are equal only when concatenated give different ids', () => {
  const quotes = [ids.quote('0a', 'b', 'cd'), ids.quote('0a', 'bc', 'd'), ids.quote('0ab', 'c', 'd')];
  expect(new Set(quotes).size).toBe(3);
  expect(ids.auction('ann', 'bob')).not.toBe(ids.quote('0', 'ann', 'bob'));
});

it('a party has one alias within an auction and a different one in each other auction', () => {
  const alias = ids.alias('0-auction', 'ann', 'MM');
  expect(alias).toMatch(/^MM-[A-HJ-NP-Z2-9]{8}$/);
  expect(ids.alias('0-auction', 'ann', 'MM')).toBe(alias);
  expect(ids.alias('1-auction', 'ann', 'MM')).not.toBe(alias);
  expect(ids.alias('0-auction', 'bob', 'MM')).not.toBe(alias);
  expect(elsewhere.alias('0-auction', 'ann', 'MM')).not.toBe(alias);
});

const OLD = Buffer.alloc(32, 1);
const NEW = Buffer.alloc(32, 2);
const rotated = new IdFactory(NEW, OLD);

it('new auctions get ids from the first key, and are found under all keys', () => {
  expect(rotated.auction('ann', 'key')).toBe(elsewhere.auction('ann', 'key'));
  expect(rotated.auctions('ann', 'key')).toEqual([
    elsewhere.auction('ann', 'key'),
    ids.auction('ann', 'key'),
  ]);
});

it('ids within an auction use the key of the auction, whatever other keys there are', () => {
  for (const [factory, auction] of [
    [ids, ids.auction('ann', 'key')],
    [elsewhere, elsewhere.auction('ann', 'key')],
  ] as const) {
    const quote = factory.quote(auction, 'bob', 'key');
    expect(rotated.quote(auction, 'bob', 'key')).toBe(quote);
    expect(rotated.award(quote)).toBe(factory.award(quote));
    expect(rotated.alias(auction, 'bob', 'MM')).toBe(factory.alias(auction, 'bob', 'MM'));
  }
});

it('ids that name no key use the oldest key', () => {
  const nameless = '0ff00000-0000-8000-8000-000000000000';
  expect(rotated.quote(nameless, 'bob', 'key')).toBe(ids.quote(nameless, 'bob', 'key'));
});

it('reports whether keys can be told apart', () => {
  expect(areDistinct([OLD, NEW])).toBe(true);
  expect(areDistinct([OLD, NEW, OLD])).toBe(false);
});
