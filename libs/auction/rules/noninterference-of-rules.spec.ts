import fc from 'fast-check';
import { describe, expect, it } from '@jest/globals';
import {
  AuctionStory,
  CLOSES_AT,
  makerNamed,
  OPENED_AT,
  ORIGINATOR,
  storyTerms,
} from '#libs/testing/auctions/story.js';
import { decideCancel } from './decide/void.js';
import { decideClose, decideExpiries } from './decide/close.js';
import { commandReply } from './told/command-reply.js';
import type { Decided } from './decided.js';
import type { AuctionEventBody, QuoteOperation } from './events.js';
import { type Instant, plusMillis } from '#libs/base/instant.js';
import { quotesFor } from './told/award-view.js';
import { planRevise, revised } from './decide/plan-revise.js';
import { planSubmit, submitted } from './decide/plan-submit.js';
import type { Rejection } from '#libs/base/rejection.js';
import { bookOf } from './state.js';
import type { Terms } from './terms.js';
import { timeline } from './told/timeline.js';
import { auctionView } from './told/view.js';
import type { Viewer } from './told/viewer.js';
import { decideWithdraw } from './decide/withdraw.js';

const MAKERS = ['mia', 'max', 'moe'] as const;
const VIEWERS = [ORIGINATOR, ...MAKERS.map(makerNamed), makerNamed('may')];

/** A call of a maker. It may be refused. */
interface Call {
  readonly maker: string;
  readonly operation: QuoteOperation;
  readonly price: number;
  readonly quantity: number;
  readonly expiresAfterMs: number | undefined;
  readonly revision: number;
}

interface Script {
  readonly terms: Terms;
  readonly calls: readonly Call[];
  readonly cancels: boolean;
}

function mostly<T>(usual: fc.Arbitrary<T>, odd: fc.Arbitrary<T>): fc.Arbitrary<T> {
  return fc.oneof({ arbitrary: usual, weight: 5 }, { arbitrary: odd, weight: 1 });
}

const call: fc.Arbitrary<Call> = fc.record({
  maker: fc.constantFrom(...MAKERS),
  operation: fc.constantFrom('SUBMIT', 'SUBMIT', 'REVISE', 'REVISE', 'WITHDRAW'),
  price: mostly(
    fc.integer({ min: 495, max: 505 }).map((ticks) => ticks * 1_000),
    fc.constantFrom(0, 500_001),
  ),
  quantity: mostly(
    fc.integer({ min: 1, max: 5 }).map((steps) => steps * 1_000_000),
    fc.constantFrom(0, 1_500_000, 9_000_000),
  ),
  expiresAfterMs: mostly(fc.constant(undefined), fc.integer({ min: -1, max: 5 })),
  revision: fc.integer({ min: 1, max: 3 }),
});

const script: fc.Arbitrary<Script> = fc.record({
  terms: fc
    .record({
      side: fc.constantFrom('BUY', 'SELL'),
      quantity_atoms: fc.integer({ min: 3, max: 8 }).map((steps) => steps * 1_000_000),
      quote_revision_policy: fc.constantFrom('FREE', 'IMPROVE_ONLY', 'FINAL'),
    } as const)
    .map(storyTerms),
  calls: fc.array(call, { maxLength: 12, size: 'max' }),
  cancels: fc.boolean(),
});

type CallOutcome = { readonly ok: true; readonly body: AuctionEventBody } | Rejection;

function applyRules(story: AuctionStory, next: Call, quoteId: string, now: Instant): CallOutcome {
  const { state } = story;
  const facts = { maker: next.maker, now, policy: undefined };
  const current = bookOf(state, next.maker)?.quotes.at(-1)?.quote_id ?? 'none';
  const price_atoms = next.price;
  if (next.operation === 'SUBMIT') {
    const expires = next.expiresAfterMs;
    const body = { price_atoms, quantity_atoms: next.quantity };
    const timed = expires === undefined ? body : { ...body, expires_at: plusMillis(now, expires) };
    const plan = planSubmit(state, timed, { ...facts, quote_id: quoteId });
    return plan.ok ? { ok: true, body: submitted(plan.quote, []) } : plan;
  }
  if (next.operation === 'REVISE') {
    const plan = planRevise(state, current, { expected_revision: next.revision, price_atoms }, facts);
    return plan.ok ? { ok: true, body: revised(plan, []) } : plan;
  }
  const decision = decideWithdraw(state, { quote_id: current, by: 'MARKET_MAKER' }, { now });
  const body = decision.ok ? decision.events[0]?.body : undefined;
  if (!decision.ok) return decision;
  if (body === undefined) throw new Error('a withdrawal without an event');
  return { ok: true, body };
}

/**
 * Runs the script through the real rules with the calls of the included makers, and returns all that the viewer
 * observes.
 */
function observed(
  { terms, calls, cancels }: Script,
  viewer: Viewer,
  included: (maker: string) => boolean,
): unknown[] {
  const story = new AuctionStory(terms);
  const seen: unknown[] = [];
  const record = (decided: readonly Decided[]) => decided.forEach(({ at, body }) => story.happens(body, at));
  const observe = () => seen.push(auctionView(story.state, viewer), quotesFor(story.state, viewer));
  calls.forEach((next, index) => {
    const now = plusMillis(OPENED_AT, 1 + index);
    record(decideExpiries(story.state, now));
    if (included(next.maker)) {
      const result = applyRules(story, next, `quote-${index}`, now);
      const answer = answered(story, next, result, now);
      if (next.maker === viewer.account_id) seen.push(answer);
    }
    observe();
  });
  if (cancels) {
    const decision = decideCancel(story.state, { by: 'ORIGINATOR' }, { now: plusMillis(OPENED_AT, 100) });
    if (decision.ok) record(decision.events);
  } else {
    record(untilClosed(decideClose(story.state, { awardId: (quoteId) => `award-of-${quoteId}` })));
  }
  observe();
  return [...seen, ...timeline(story.events, viewer).entries];
}

/**
 * As the owner does: acceptances and refusals are journaled and answered from the journal; a conflict is only
 * answered.
 */
function answered(
  story: AuctionStory,
  { maker, operation }: Call,
  result: CallOutcome,
  now: Instant,
): unknown {
  if (!result.ok && result.status === 409) return result;
  const body: AuctionEventBody = result.ok
    ? result.body
    : { type: 'QUOTE_REJECTED', data: { maker, operation, error: result.error, message: result.message } };
  const { event } = story.happens(body, now).events.at(-1) ?? {};
  return event && commandReply(story.state, event);
}

function untilClosed(decided: readonly Decided[]): readonly Decided[] {
  return decided.slice(0, decided.findIndex(({ body }) => body.type === 'AUCTION_CLOSED') + 1);
}

describe('a script of calls, run with and without competitors', () => {
  it('gives every viewer the same bytes up to the close: views, quotes, entries, answers and refusals', () => {
    fc.assert(
      fc.property(script, (one) => {
        for (const viewer of VIEWERS) {
          const busy = observed(one, viewer, () => true);
          const quiet = observed(one, viewer, (maker) => maker === viewer.account_id);
          expect(JSON.stringify(busy)).toBe(JSON.stringify(quiet));
        }
      }),
      { numRuns: 200 },
    );
  });

  it('is worth the comparison: the scripts include acceptances, refusals, conflicts and expiries', () => {
    const met = new Set<string>();
    fc.assert(
      fc.property(script, (one) => {
        for (const maker of MAKERS) {
          const bytes = JSON.stringify(observed(one, makerNamed(maker), () => true));
          for (const word of WORDS) if (bytes.includes(word)) met.add(word);
          expect(bytes.includes(CLOSES_AT)).toBe(true);
        }
      }),
      { numRuns: 1_000 },
    );
    expect([...met].sort()).toEqual([...WORDS].sort());
  });
});

const WORDS = [
  'QUOTE_ACCEPTED',
  'QUOTE_REVISED',
  'QUOTE_WITHDRAWN',
  'QUOTE_EXPIRED',
  'INVALID_PRICE_TICK',
  'UNAUTHORIZED_SIZE',
  'INVALID_TERMS',
  'REVISION_NOT_IMPROVING',
  'QUOTE_NOT_REVISABLE',
  'QUOTE_NOT_WITHDRAWABLE',
  'quote_already_active',
  'quote_revision_conflict',
  'AUCTION_CANCELLED',
  'AUCTION_CLOSED',
];
