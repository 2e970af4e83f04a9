import { describe, expect, it } from '@jest/globals';
import { AuctionStory, makerNamed, ORIGINATOR, storyTerms } from '#libs/testing/auctions/story.js';
import { auditView } from './audit/audit.js';
import type { QuoteTerms } from './events.js';
import { evolve } from './evolve/evolve.js';
import { findQuote, type AuctionState } from './state.js';
import { timeline } from './told/timeline.js';
import { auctionView } from './told/view.js';

const CONNECTION = 'connection-of-mia';
const OPERATOR = 'opal-the-operator';

/** Mia quotes over a stream and revises her quote, then an operator voids the auction. */
function voidedStory(): AuctionStory {
  const story = new AuctionStory(storyTerms());
  const { events } = new AuctionStory(storyTerms()).submits('mia');
  const opened = events[1]?.event;
  if (opened?.type !== 'QUOTE_SUBMITTED') throw new Error('a story of a quote begins with one');
  const quote: QuoteTerms = opened.data.quote;
  return story
    .happens({ type: 'QUOTE_SUBMITTED', data: { quote, connection_id: CONNECTION } }, opened.at)
    .revises('mia', { price_atoms: 490_000 })
    .happens({ type: 'AUCTION_VOIDED', data: { by: 'OPERATOR', reason: 'in dispute', operator: OPERATOR } })
    .completes('VOIDED');
}

const DELIVERED = 123_457;

/** Mia wins. The route of the settlement is known only to the ledger and the journal. */
function settled(): AuctionStory {
  const settlement = { venue: 'venue-of-it', asset: 'asset-of-it', delivered_atoms: DELIVERED };
  const data = { award_id: 'award-of-mia', attempt: 1, settlement };
  return new AuctionStory()
    .submits('mia')
    .awards({ mia: 1_000_000 })
    .executes('mia', 'SUBMITTED')
    .happens({ type: 'EXECUTION_CONFIRMED', data })
    .completes('SETTLED');
}

describe('what the journal stores for the owner only', () => {
  const story = voidedStory();

  it('includes the connection of a quote, through every revision', () => {
    const connections: unknown[] = [];
    let state: AuctionState | undefined;
    for (const placed of story.events) {
      state = evolve(state, placed);
      connections.push(findQuote(state, 'quote-of-mia')?.connection_id);
    }
    expect(connections).toEqual([undefined, CONNECTION, CONNECTION, CONNECTION, CONNECTION]);
  });

  it('appears in no view, timeline or audit', () => {
    const viewers = [ORIGINATOR, makerNamed('mia'), makerNamed('max')];
    const chained = story.events.map((placed) => ({ ...placed, hash: 'hash' }));
    const shown = JSON.stringify([
      viewers.map((viewer) => auctionView(story.state, viewer)),
      viewers.map((viewer) => timeline(story.events, viewer).entries),
      auditView(story.state, chained, () => 'P1'),
    ]);
    expect(shown).toContain('in dispute');
    for (const secret of [CONNECTION, OPERATOR, 'connection_id', '"operator"'])
      expect(shown).not.toContain(secret);
  });

  it('includes the settled route, which appears in no view, timeline or audit', () => {
    const { events, state } = settled();
    const viewers = [ORIGINATOR, makerNamed('mia'), makerNamed('max')];
    const shown = JSON.stringify([
      viewers.map((viewer) => auctionView(state, viewer)),
      viewers.map((viewer) => timeline(events, viewer).entries),
      auditView(
        state,
        events.map((placed) => ({ ...placed, hash: 'hash' })),
        () => 'P1',
      ),
    ]);
    expect(shown).toContain('EXECUTION_CONFIRMED');
    for (const secret of ['venue-of-it', 'asset-of-it', String(DELIVERED), 'settlement'])
      expect(shown).not.toContain(secret);
    expect(JSON.stringify(state)).not.toContain('venue-of-it');
  });

  it('includes the operator, who is not even part of the state', () => {
    expect(JSON.stringify(story.state)).not.toContain(OPERATOR);
    expect(story.state.cancellation).toMatchObject({ by: 'OPERATOR', reason: 'in dispute' });
  });
});
