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

/** Mia quotes over a stream, betters her quote, and an operator ends it all. */
function told(): AuctionStory {
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

/** Mia has won, and the award was settled by a route that only the ledger and the journal know of. */
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

describe('what the journal keeps for the owner alone', () => {
  const story = told();

  it('is kept: a quote belongs to the connection that it was submitted on, however it is revised', () => {
    const connections: unknown[] = [];
    let state: AuctionState | undefined;
    for (const placed of story.events) {
      state = evolve(state, placed);
      connections.push(findQuote(state, 'quote-of-mia')?.connection_id);
    }
    expect(connections).toEqual([undefined, CONNECTION, CONNECTION, CONNECTION, CONNECTION]);
  });

  it('but no view, no timeline and no audit tells of it', () => {
    const viewers = [ORIGINATOR, makerNamed('mia'), makerNamed('max')];
    const witnessed = story.events.map((placed) => ({ ...placed, hash: 'hash' }));
    const shown = JSON.stringify([
      viewers.map((viewer) => auctionView(story.state, viewer)),
      viewers.map((viewer) => timeline(story.events, viewer).entries),
      auditView(story.state, witnessed, () => 'P1'),
    ]);
    expect(shown).toContain('in dispute');
    for (const secret of [CONNECTION, OPERATOR, 'connection_id', '"operator"'])
      expect(shown).not.toContain(secret);
  });

  it('nor does any of them tell by which route an award was settled', () => {
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

  it('and which operator it was does not even stand in the state', () => {
    expect(JSON.stringify(story.state)).not.toContain(OPERATOR);
    expect(story.state.cancellation).toMatchObject({ by: 'OPERATOR', reason: 'in dispute' });
  });
});
