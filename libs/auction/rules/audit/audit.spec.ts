import { describe, expect, it } from '@jest/globals';
import { AuctionStory, storyTerms } from '#libs/testing/auctions/story.js';
import { auditView, type AuditView } from './audit.js';
import type { Terms } from '../terms.js';

const pseudonymOf = (account: string) => `P${account.charAt(2)}${account.charAt(1)}`;

function audited(story: AuctionStory): AuditView {
  const chained = story.events.map((placed) => ({ ...placed, hash: `hash-${placed.position}` }));
  return auditView(story.state, chained, pseudonymOf);
}

function quoting(different: Partial<Terms> = {}): AuctionStory {
  return new AuctionStory(storyTerms(different))
    .submits('may', { price_atoms: 900_000 })
    .submits('max', { price_atoms: 600_000, min_quantity_atoms: 4_000_000 })
    .submits('moe', { price_atoms: 520_000, client_reference: 'note-of-moe' })
    .submits('mia', { client_reference: 'note-of-mia', price_atoms: 500_000, quantity_atoms: 3_000_000 });
}

const reasons = (story: AuctionStory) =>
  audited(story).ranking.map((row) => [row.market_maker, row.rank, row.awarded_quantity_atoms, row.reason]);

describe('the audit view', () => {
  const story = quoting()
    .isRefused('mia', 'REVISE')
    .revises('moe', { price_atoms: 530_000 })
    .withdraws('may', 'OPERATOR')
    .awards({ mia: 3_000_000, moe: 4_000_000 })
    .executes('mia', 'CONFIRMED')
    .executes('moe', 'CONFIRMED')
    .completes('SETTLED');

  it('shows the terms, and every event with its position and hash', () => {
    const { events, ...head } = audited(story);
    expect(head).toMatchObject({ auction_id: storyTerms().auction_id, status: 'SETTLED', rule_version: 1 });
    expect(head.terms).toMatchObject({ originator: 'Pgl', audience: ['Pai', 'Peo', 'Pxa', 'Pya'] });
    expect(head.terms).toMatchObject({ limit_price_atoms: 700_000, quantity_atoms: 10_000_000 });
    expect(events).toHaveLength(story.events.length);
    events.forEach((event, index) => {
      const { position, event: journaled } = story.events[index] ?? {};
      expect(Object.keys(event)).toEqual(['position', 'type', 'version', 'occurred_at', 'data', 'hash']);
      expect(event).toMatchObject({
        position,
        type: journaled?.type,
        occurred_at: journaled?.at,
        hash: `hash-${position}`,
      });
    });
    expect(events[1]?.data).toMatchObject({ quote: { market_maker: 'Pya', price_atoms: 900_000 } });
    expect(events[5]?.data).toMatchObject({ market_maker: 'Pai', operation: 'REVISE' });
    expect(events[6]?.data).toMatchObject({ quote: { market_maker: 'Peo' }, keeps_priority: false });
    expect(events[7]?.data).toEqual({ market_maker: 'Pya', quote_id: 'quote-of-may', by: 'OPERATOR' });
    expect(events[9]?.data).toMatchObject({ awards: [{ market_maker: 'Pai' }, { market_maker: 'Peo' }] });
  });

  it('shows no account name and no private note', () => {
    const bytes = JSON.stringify(audited(story)).replaceAll(/(quote|award)-of-\w+/g, '');
    for (const hidden of ['olga', 'mia', 'moe', 'may', 'max"', 'alias', 'Ltd', 'note-of']) {
      expect(bytes).not.toContain(hidden);
    }
  });
});

describe('the ranking', () => {
  it('gives the reason for each quote of a split', () => {
    const story = quoting().awards({ mia: 3_000_000, moe: 4_000_000 });
    expect(reasons(story)).toEqual([
      ['Pai', 1, 3_000_000, 'AWARDED'],
      ['Peo', 2, 4_000_000, 'AWARDED'],
      ['Pxa', 3, 0, 'QUOTE_MINIMUM_NOT_MET'],
      ['Pya', undefined, 0, 'RESERVE_NOT_MET'],
    ]);
    expect(
      reasons(quoting({ quantity_atoms: 5_000_000 }).awards({ mia: 3_000_000, moe: 2_000_000 })),
    ).toMatchObject([
      ['Pai', 1, 3_000_000, 'AWARDED'],
      ['Peo', 2, 2_000_000, 'PARTIALLY_AWARDED'],
      ['Pxa', 3, 0, 'OUTRANKED'],
      ['Pya', undefined, 0, 'RESERVE_NOT_MET'],
    ]);
    const two = quoting({ max_winners: 2, quantity_atoms: 20_000_000 }).awards({
      mia: 3_000_000,
      moe: 4_000_000,
    });
    expect(reasons(two)[2]).toEqual(['Pxa', 3, 0, 'MAX_WINNERS_REACHED']);
  });

  it('gives the reason why the best quote did not win alone', () => {
    const single = {
      allocation: 'SINGLE_WINNER',
      max_winners: 1,
      min_fill_quantity_atoms: 4_000_000,
    } as const;
    expect(reasons(quoting(single).awards({ moe: 4_000_000 }))).toEqual([
      ['Pai', 1, 0, 'BELOW_MINIMUM_FILL'],
      ['Peo', 2, 4_000_000, 'AWARDED'],
      ['Pxa', 3, 0, 'OUTRANKED'],
      ['Pya', undefined, 0, 'RESERVE_NOT_MET'],
    ]);
  });

  it('gives the reason when no quote won', () => {
    const story = quoting().withdraws('moe').awardsNobody('MINIMUM_NOT_MET');
    expect(reasons(story)).toEqual([
      ['Pai', 1, 0, 'MINIMUM_NOT_MET'],
      ['Pxa', 2, 0, 'MINIMUM_NOT_MET'],
      ['Pya', undefined, 0, 'RESERVE_NOT_MET'],
    ]);
  });

  it('is empty when nothing was ranked', () => {
    expect(reasons(quoting().cancelled())).toEqual([]);
  });
});
