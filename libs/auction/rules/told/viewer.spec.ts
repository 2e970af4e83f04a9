import { describe, expect, it } from '@jest/globals';
import { AuctionStory, CLOSES_AT, makerNamed, ORIGINATOR, storyTerms } from '#libs/testing/auctions/story.js';
import { completionFor, isOverFor, viewerOf, type Viewer } from './viewer.js';

const MIA = makerNamed('mia');
const MAX = makerNamed('max');
const MOE = makerNamed('moe');

describe('an auction is visible', () => {
  it('to its originator and the invited makers', () => {
    expect(viewerOf(storyTerms(), 'olga')).toEqual(ORIGINATOR);
    expect(viewerOf(storyTerms(), 'mia')).toEqual(MIA);
    expect(viewerOf(new AuctionStory().state, 'mia')).toEqual(MIA);
  });

  it('to no other account, not even under an alias', () => {
    for (const stranger of ['', 'otto', 'alias-of-mia', 'alias-of-olga', 'mia Ltd', 'MIA']) {
      expect(viewerOf(storyTerms(), stranger)).toBeUndefined();
    }
  });
});

describe('an auction is over', () => {
  const quoting = () =>
    new AuctionStory().submits('mia').submits('moe').submits('max', { price_atoms: 600_000 });
  const awarded = () => quoting().awards({ mia: 4_000_000, moe: 1_000_000 });

  it.each([ORIGINATOR, MIA, MAX])('not before the decision: %j', (viewer: Viewer) => {
    expect(isOverFor(quoting().state, viewer)).toBe(false);
    expect(isOverFor(quoting().closes().state, viewer)).toBe(false);
  });

  it('at the close for a maker without an award', () => {
    expect(completionFor(awarded().state, MAX)).toBe(CLOSES_AT);
    expect(completionFor(awarded().state, makerNamed('may'))).toBe(CLOSES_AT);
    expect(isOverFor(awarded().state, MAX)).toBe(true);
  });

  it('at the end of its own award for a winner, and at the end of all for the originator', () => {
    const story = awarded();
    expect([ORIGINATOR, MIA, MOE].map((viewer) => isOverFor(story.state, viewer))).toEqual([
      false,
      false,
      false,
    ]);
    const settledAt = story.executes('mia', 'CONFIRMED').events.at(-1)?.event.at;
    expect([ORIGINATOR, MIA, MOE].map((viewer) => isOverFor(story.state, viewer))).toEqual([
      false,
      true,
      false,
    ]);
    const failedAt = story.executes('moe', 'FAILED').completes('PARTIALLY_SETTLED').events.at(-1)?.event.at;
    const ends = [ORIGINATOR, MIA, MOE, MAX].map((viewer) => completionFor(story.state, viewer));
    expect(ends).toEqual([failedAt, settledAt, failedAt, CLOSES_AT]);
  });

  it('at the cancellation for all', () => {
    const story = quoting().cancelled();
    const at = story.events.at(-1)?.event.at;
    expect([ORIGINATOR, MIA, makerNamed('may')].map((viewer) => completionFor(story.state, viewer))).toEqual([
      at,
      at,
      at,
    ]);
  });
});
