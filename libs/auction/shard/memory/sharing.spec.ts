import { expect, it } from '@jest/globals';
import type { AuctionState } from '../../rules/state.js';
import { anOpenAuction, aQuote } from '#libs/testing/auctions/builders.js';
import { withdraws } from '#libs/testing/auctions/commands.js';
import { given } from '#libs/testing/auctions/given.js';
import { Sharing } from './sharing.js';

const { state } = given(anOpenAuction(), aQuote('mia'), aQuote('max'), withdraws('mia'), aQuote('mia'));

/** As read from a snapshot: everything is a separate copy. */
function copied(): AuctionState {
  return JSON.parse(JSON.stringify(state)) as AuctionState;
}

it('the interned state equals the original', () => {
  expect(new Sharing().state(copied())).toEqual(state);
});

it('equal hold keys of quotes in an auction are kept once', () => {
  const { held, books } = new Sharing().state(copied());
  const quotes = books.flatMap((book) => book.quotes);
  expect(quotes.length).toBeGreaterThan(1);
  for (const { held: own } of quotes) expect([held.keys, quotes[0]!.held.keys]).toContain(own.keys);
});
