import { afterEach, beforeEach, expect, it } from '@jest/globals';
import type { AuctionState } from '../rules/state.js';
import { anOpenAuction, aQuote, at } from '#libs/testing/auctions/builders.js';
import { closes, reports } from '#libs/testing/auctions/commands.js';
import { given } from '#libs/testing/auctions/given.js';
import { MovableClock } from '#libs/testing/movable-clock.js';
import type { AuctionEntry } from './memory/auction-book.js';
import { IdempotencyIndex } from '#libs/shard/idempotency-index.js';
import { PendingAwards } from './pending-awards.js';

const [MIA, MAX] = ['award-of-quote-of-mia', 'award-of-quote-of-max'];
const CONFIRMED = { award_id: MIA, step: 'CONFIRMED', attempt: 1 } as const;

let clock: MovableClock;
let awards: PendingAwards;

beforeEach(() => {
  clock = new MovableClock();
  awards = new PendingAwards(clock);
});
afterEach(() => clock.forgetTimers());

const awarded = given(anOpenAuction(), aQuote('mia'), aQuote('max'), closes());

function entry(durable: AuctionState | undefined, head = durable ?? awarded.state): AuctionEntry {
  return {
    id: head.terms.auction_id,
    head,
    durable,
    positions: [],
    commands: new IdempotencyIndex(),
    awardEnds: undefined,
    dueAt: undefined,
    mayDecide: false,
    decidedAt: undefined,
    completedAt: undefined,
  };
}

async function listed(known: string[] = []): Promise<string[]> {
  return (await awards.next(known, 0)).map(({ award_id: id }) => id);
}

it('lists every award that has not ended, except those that the caller already knows', async () => {
  awards.note(entry(awarded.state));
  expect(await listed()).toEqual([MIA, MAX]);
  expect(await listed([MIA])).toEqual([MAX]);
  expect(await listed([MIA, MAX])).toEqual([]);
});

it('lists an award again for a caller that no longer knows it', async () => {
  awards.note(entry(awarded.state));
  expect(await listed([MIA, MAX])).toEqual([]);
  expect(await listed()).toEqual([MIA, MAX]);
});

it('gives buyer and seller of an award, and what is reserved of each for it', async () => {
  awards.note(entry(awarded.state));
  const [first] = await awards.next([], 0);
  const [award] = awarded.state.awards;
  expect(first).toEqual({
    award_id: MIA,
    attempts: 0,
    deadline: at(120_000),
    auction_id: awarded.state.terms.auction_id,
    price_atoms: 500_000,
    quantity_atoms: 4_000_000,
    routes: [{ venue: 'venue_a', contract_id: 'rain', outcome: 'YES' }],
    buyer: { account: 'olga', hold: award?.originator_hold },
    seller: { account: 'mia', hold: award?.maker_hold },
  });
});

it('makes the originator the seller in a SELL auction', async () => {
  const sold = given(anOpenAuction({ side: 'SELL', limit_price_atoms: 400_000 }), aQuote('mia'), closes());
  awards.note(entry(sold.state));
  expect(await awards.next([], 0)).toMatchObject([
    { buyer: { account: 'mia' }, seller: { account: 'olga' } },
  ]);
});

it('removes awards that have ended', async () => {
  const one = entry(awarded.state);
  awards.note(one);
  one.durable = awarded.and(reports(CONFIRMED)).state;
  awards.note(one);
  expect(await listed()).toEqual([MAX]);
  one.durable = awarded
    .and(reports(CONFIRMED))
    .and(reports({ ...CONFIRMED, award_id: MAX, step: 'FAILED' })).state;
  awards.note(one);
  expect(await listed()).toEqual([]);
});

it('does not list an award that is not durable yet', async () => {
  awards.note(entry(undefined, awarded.state));
  expect(await listed()).toEqual([]);
});

it('a caller may wait, and is woken by the first award', async () => {
  const waiting = awards.next([], 60_000);
  awards.note(entry(given(anOpenAuction(), aQuote('mia', { submitted_at: at(1) })).state));
  awards.note(entry(awarded.state));
  expect((await waiting).map(({ award_id: id }) => id)).toEqual([MIA, MAX]);
});

it('a caller waits no longer than it asked for', async () => {
  const waiting = awards.next([], 5_000);
  clock.leap(5_000);
  expect(await waiting).toEqual([]);
});
