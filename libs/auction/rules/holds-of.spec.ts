import { describe, expect, it } from '@jest/globals';
import { anOpenAuction, aQuote, at } from '#libs/testing/auctions/builders.js';
import { cancels, closes, expires, reports, voids, withdraws } from '#libs/testing/auctions/commands.js';
import { given } from '#libs/testing/auctions/given.js';
import { holdOf } from './held.js';
import type { Decided } from './decided.js';
import { holdsOf } from './holds-of.js';
import { activeQuote } from './state.js';

const open = given(anOpenAuction(), aQuote('mia'), aQuote('max', { price_atoms: 700_000 }));
const ofMia = holdOf(activeQuote(open.state, 'mia'));
const ofMax = holdOf(activeQuote(open.state, 'max'));
const report = (maker: string, step: 'CONFIRMED' | 'FAILED') =>
  reports({ award_id: `award-of-quote-of-${maker}`, step, attempt: 1 });

function held(history: ReturnType<typeof given>): Record<string, unknown> {
  return Object.fromEntries(holdsOf(history.state));
}

describe('the holds of an auction', () => {
  it('cover the originator and the active quotes while it is open', () => {
    expect(held(open)).toEqual({ olga: holdOf(open.state), mia: ofMia, max: ofMax });
    expect(held(open.and(withdraws('mia')))).toEqual({ olga: holdOf(open.state), max: ofMax });
    const brief = given(anOpenAuction(), aQuote('mia', { expires_at: at(5_000) }));
    expect(held(brief)).toHaveProperty('mia');
    expect(held(brief.and(expires(at(5_000))))).toEqual({ olga: holdOf(open.state) });
  });

  it('stay the same between the close and the decision', () => {
    const closed: Decided = { at: at(60_000), body: { type: 'AUCTION_CLOSED', data: {} } };
    expect(held(open.and(closed))).toEqual(held(open));
  });

  it('cover the awards after the decision, until each award has ended', () => {
    const won = open.and(closes());
    const [mia, max] = won.state.awards;
    expect(held(won)).toEqual({
      olga: [...(mia?.originator_hold ?? []), ...(max?.originator_hold ?? [])],
      mia: mia?.maker_hold,
      max: max?.maker_hold,
    });
    expect(held(won.and(report('mia', 'CONFIRMED')))).toEqual({
      olga: max?.originator_hold,
      max: max?.maker_hold,
    });
    expect(held(won.and(report('mia', 'CONFIRMED')).and(report('max', 'FAILED')))).toEqual({});
  });

  it('are empty as soon as no quote wins, even before the completion', () => {
    const lost = given(anOpenAuction({ limit_price_atoms: 1_000 }), aQuote('mia'));
    const [closed, notAwarded] = closes()(lost.state) as readonly Decided[];
    expect(held(lost.and(closed!).and(notAwarded!))).toEqual({});
    expect(held(lost.and(closes()))).toEqual({});
  });

  it('are empty once it is cancelled or voided', () => {
    expect(held(open.and(cancels()))).toEqual({});
    expect(held(open.and(voids({ by: 'SYSTEM' })))).toEqual({});
  });
});
