import { describe, expect, it } from '@jest/globals';
import { AuctionStory, makerNamed, ORIGINATOR } from '#libs/testing/auctions/story.js';
import { commandReply, type CommandReply, refusal, replyFor } from './command-reply.js';
import { quotesFor } from './award-view.js';
import { auctionView } from './view.js';

/** The reply to the call of the last event. */
function lastReply(story: AuctionStory): CommandReply | undefined {
  const placed = story.events.at(-1);
  return placed && commandReply(story.state, placed.event);
}

function mine(story: AuctionStory) {
  return quotesFor(story.state, makerNamed('mia'))[0];
}

describe('the reply to a command', () => {
  it('is the auction view for a create', () => {
    const story = new AuctionStory();
    expect(lastReply(story)).toEqual({ status: 201, body: auctionView(story.state, ORIGINATOR) });
  });

  it('is the quote view for a submit, a revision and a withdrawal', () => {
    const story = new AuctionStory().submits('mia');
    expect(lastReply(story)).toEqual({ status: 201, body: mine(story) });
    story.revises('mia', { price_atoms: 490_000 });
    expect(lastReply(story)).toEqual({ status: 200, body: mine(story) });
    story.withdraws('mia');
    expect(lastReply(story)).toEqual({ status: 200, body: mine(story) });
  });

  it('is the completed auction view for a cancel', () => {
    const story = new AuctionStory().submits('mia').cancelled();
    const [cancelled, completed] = story.events.slice(-2);
    const body = auctionView(story.state, ORIGINATOR);
    expect(body).toMatchObject({
      status: 'CANCELLED',
      phase: 'COMPLETED',
      completed_at: completed?.event.at,
      view_version: 3,
    });
    expect(cancelled && commandReply(story.state, cancelled.event)).toEqual({ status: 200, body });
    expect(replyFor(story.events, cancelled?.position ?? 0)).toEqual({ status: 200, body });
  });

  it('is the error for a refused command', () => {
    const error = { error: 'INVALID_PRICE_TICK', message: 'The price is off the grid.' };
    expect(lastReply(new AuctionStory().isRefused('mia', 'SUBMIT'))).toEqual({ status: 422, body: error });
    const late = { error: 'AUCTION_NOT_OPEN', message: 'The auction is not open.' };
    const story = new AuctionStory().closes().happens({ type: 'CANCEL_REJECTED', data: late });
    expect(lastReply(story)).toEqual({ status: 422, body: late });
    expect(refusal({ ...late, ...{ auction_id: 'x' } })).toEqual({ status: 422, body: late });
  });

  it('does not exist for an event without a caller', () => {
    expect(lastReply(new AuctionStory().closes())).toBeUndefined();
  });
});

describe('the reply to a repeat', () => {
  it('equals the first reply, whatever came later, but with 200 instead of 201', () => {
    const story = new AuctionStory();
    const answers: { position: number; reply: CommandReply }[] = [];
    const note = () => {
      const reply = lastReply(story);
      if (reply !== undefined) answers.push({ position: story.lastPosition, reply });
    };
    note();
    story.submits('mia');
    note();
    story.submits('max');
    note();
    story.revises('mia', { price_atoms: 490_000 });
    note();
    story.isRefused('mia', 'REVISE');
    note();
    story.awards({ mia: 4_000_000 }).executes('mia', 'CONFIRMED').completes('SETTLED');
    expect(answers.map(({ reply }) => reply.status)).toEqual([201, 201, 201, 200, 422]);
    for (const { position, reply } of answers) {
      const status = reply.status === 422 ? 422 : 200;
      expect(JSON.stringify(replyFor(story.events, position))).toBe(JSON.stringify({ ...reply, status }));
    }
  });

  it('to a position without a call is a bug and throws', () => {
    const story = new AuctionStory().closes();
    expect(() => replyFor(story.events, story.lastPosition)).toThrow('no answered call');
    expect(() => replyFor(story.events, 1_000)).toThrow('no answered call');
  });
});
