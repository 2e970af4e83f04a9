import fc from 'fast-check';
import { expect, it } from '@jest/globals';
import { holdOf } from '../rules/held.js';
import type { AuctionEvent, Placed } from '../rules/events.js';
import { evolve } from '../rules/evolve/evolve.js';
import type { AuctionState } from '../rules/state.js';
import type { Hold } from '../rules/terms.js';
import { anOpenAuction, aQuote, at, CONTRACT } from '#libs/testing/auctions/builders.js';
import {
  cancels,
  closes,
  type CommandUnderTest,
  expires,
  reports,
  revises,
  submits,
  voids,
  withdraws,
} from '#libs/testing/auctions/commands.js';
import { placed } from '#libs/testing/auctions/given.js';
import { expectedHolds } from '#libs/testing/auctions/holds.js';
import { larger, releasesOf } from './releases.js';

const MAKERS = ['mia', 'max', 'moe'] as const;
const TICK = 1_000;

type Move = readonly [maker: string, act: number, price: number, quantity: number];

const move: fc.Arbitrary<Move> = fc.tuple(
  fc.constantFrom(...MAKERS),
  fc.nat(9),
  fc.integer({ min: 450, max: 750 }).map((ticks) => ticks * TICK),
  fc.integer({ min: 1, max: 8 }).map((contracts) => contracts * CONTRACT),
);

/** The reservations of each account, computed from grants and releases alone. */
class Counted {
  private readonly amounts = new Map<string, number>();

  grant(account: string, before: readonly Hold[], hold: readonly Hold[]): void {
    // A granted revision reserves the larger of both until it is durable.
    const both = larger(before, hold);
    for (const one of both) this.add(account, one, one.amount);
    for (const one of before) this.add(account, one, -one.amount);
  }

  release(account: string, hold: readonly Hold[]): void {
    for (const one of hold) this.add(account, one, -one.amount);
  }

  get remaining(): Record<string, number> {
    return Object.fromEntries([...this.amounts].filter(([, amount]) => amount !== 0).sort());
  }

  private add(account: string, { venue, resource, asset }: Hold, amount: number): void {
    const name = `${account}/${venue}/${resource}/${asset}`;
    const sum = (this.amounts.get(name) ?? 0) + amount;
    if (sum < 0) throw new Error(`${name} is released more than it holds`);
    this.amounts.set(name, sum);
  }
}

class Auction {
  state: AuctionState | undefined;
  private readonly counted = new Counted();
  private position = 0;

  happens(event: Placed<AuctionEvent>['event']): void {
    const before = this.state;
    this.state = evolve(before, { position: (this.position += 1), event });
    if (event.type === 'AUCTION_OPENED') this.counted.grant('olga', [], event.data.hold);
    if (event.type === 'QUOTE_SUBMITTED')
      this.counted.grant(event.data.quote.maker, [], event.data.quote.hold);
    if (event.type === 'QUOTE_REVISED') {
      const { quote } = event.data;
      const last = before?.books.find(({ maker }) => maker === quote.maker)?.quotes.at(-1);
      this.counted.grant(quote.maker, holdOf(last), quote.hold);
    }
    if (before !== undefined) {
      for (const { account, hold } of releasesOf(before, event)) this.counted.release(account, hold);
    }
    expect(this.counted.remaining).toEqual(expectedHolds([this.state]));
  }

  does(command: CommandUnderTest): void {
    const decided = command(this.state!);
    const events = 'ok' in decided ? (decided.ok ? decided.events : []) : decided;
    for (const next of events) this.happens(placed(next, this.position, this.state!.terms.auction_id).event);
  }
}

function commandOf([maker, act, price, quantity]: Move, index: number): CommandUnderTest {
  const now = at(1_000 + index);
  const terms = { price_atoms: price, quantity_atoms: quantity };
  return (state) => {
    const quote = state.books.find((book) => book.maker === maker)?.quotes.at(-1);
    const named = { quote_id: quote?.quote_id ?? 'none' };
    if (act <= 3)
      return submits(maker, act === 3 ? { ...terms, expires_at: at(30_000) } : terms, {
        now,
        quote_id: `quote-${index}`,
      })(state);
    if (act <= 6)
      return revises(maker, { ...terms, expected_revision: quote?.revision ?? 1 }, { now, ...named })(state);
    if (act <= 8) return withdraws(maker, named, now)(state);
    return expires(at(31_000))(state);
  };
}

const ending = fc.constantFrom<CommandUnderTest>(
  cancels(),
  voids({ by: 'SYSTEM' }, at(40_000)),
  closes(),
  closes(),
  closes(),
);

it.each(['BUY', 'SELL'] as const)(
  'events release exactly what holds no longer need, whatever happens (%s)',
  (side) => {
    fc.assert(
      fc.property(
        fc.array(move, { maxLength: 14 }),
        ending,
        fc.array(fc.tuple(fc.nat(3), fc.nat(2))),
        (moves, end, steps) => {
          const auction = new Auction();
          const tokens = () => 3 * CONTRACT;
          auction.happens(
            placed(anOpenAuction({ side }, tokens), 1, '0a000000-0000-8000-8000-000000000001').event,
          );
          for (const [index, next] of moves.entries()) auction.does(commandOf(next, index));
          auction.does(end);
          for (const [index, [step, which]] of steps.entries()) {
            const awards = auction.state!.awards;
            const award = awards[which % Math.max(1, awards.length)];
            if (award === undefined) continue;
            const what = (['SUBMITTED', 'RETRYING', 'CONFIRMED', 'FAILED'] as const)[step]!;
            auction.does(
              reports({ award_id: award.award_id, step: what, attempt: index + 1 }, at(61_000 + index)),
            );
          }
        },
      ),
      { numRuns: 300 },
    );
  },
);

it('an opening, a first quote and a refusal release nothing', () => {
  const auction = new Auction();
  auction.happens(placed(anOpenAuction(), 1, 'a').event);
  const quote = placed(aQuote('mia')(auction.state!), 2, 'a').event;
  expect(releasesOf(auction.state!, quote)).toEqual([]);
  const data = { maker: 'mia', operation: 'SUBMIT' as const, error: 'x', message: 'y' };
  expect(releasesOf(auction.state!, { type: 'QUOTE_REJECTED', data })).toEqual([]);
});
