import { expect, it } from '@jest/globals';
import { encodeEvent } from '#libs/auction/rules/event-versions.js';
import { IdFactory } from '#libs/auction/shard/ids.js';
import { AuctionStory, storyTerms } from '#libs/testing/auctions/story.js';
import { realistic } from '#libs/testing/auctions/journaled-auctions.js';
import { MemoryJournal, MemoryJournalStore } from '#libs/testing/journals/memory-journal.js';
import { checkIdKeys } from './known-ids.js';

const SHARD = 0;
const OTTO = '0fa98749-3ca3-8cfc-8952-43b881a02b7d';
const [former, present] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];

/**
 * Opens a journal with one auction for each id, made under the keys `c0`, `c1` and so on. Tells whether an
 * owner with these ids would start.
 */
async function starts(ids: IdFactory, ...auctionIds: readonly string[]): Promise<string> {
  const store = new MemoryJournalStore();
  const writer = await new MemoryJournal(store, 'test').open(SHARD);
  const [opening] = realistic(new AuctionStory(storyTerms()).events, 'any', SHARD, 0);
  if (opening?.type !== 'AUCTION_OPENED') throw new Error('a story begins with its opening');
  for (const [index, auctionId] of auctionIds.entries()) {
    const command = { account_id: OTTO, operation: 'CREATE', key: `c${index}`, content: '' } as const;
    await writer.append([encodeEvent({ ...opening, auction_id: auctionId, command })]);
  }
  try {
    await checkIdKeys(store, { shard: SHARD, head: writer.head.sequence }, ids);
    return 'it starts';
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

const named = (key: Buffer, caller: string): string => new IdFactory(key).auction(OTTO, caller);
const ofBefore = (id: string): string => `${id.charAt(0)}fa${id.slice(3)}`;

it('starts if its keys made the id of the latest auction, or if there is none', async () => {
  expect(await starts(new IdFactory(present))).toBe('it starts');
  expect(await starts(new IdFactory(present), named(former, 'c0'), named(present, 'c1'))).toBe('it starts');
  expect(await starts(new IdFactory(present, former), named(former, 'c0'))).toBe('it starts');
  expect(await starts(new IdFactory(former), ofBefore(named(former, 'c0')))).toBe('it starts');
});

it('does not start under other keys', async () => {
  const id = named(former, 'c1');
  const outcome = await starts(new IdFactory(present), named(present, 'c0'), id);
  expect(outcome).toMatch(`ID_KEY is not the key that auction ${id} was named with`);
});
