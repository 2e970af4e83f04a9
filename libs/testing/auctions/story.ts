import { holdOf } from '#libs/auction/rules/held.js';
import { evolve } from '#libs/auction/rules/evolve/evolve.js';
import type {
  AuctionEvent,
  AuctionEventBody,
  AwardTerms,
  CancelledBy,
  CompletedStatus,
  NotAwardedReason,
  Placed,
  QuoteOperation,
  QuoteTerms,
  WithdrawnBy,
} from '#libs/auction/rules/events.js';
import { plusMillis, type Instant } from '#libs/base/instant.js';
import { bookOf, type AuctionState } from '#libs/auction/rules/state.js';
import type { Party, Terms } from '#libs/auction/rules/terms.js';
import type { Viewer } from '#libs/auction/rules/told/viewer.js';

export const OPENED_AT = '2026-11-20T12:00:00.000000001Z';
export const CLOSES_AT = plusMillis(OPENED_AT, 60_000);
export const ORIGINATOR: Viewer = { account_id: 'olga', role: 'ORIGINATOR' };

export function makerNamed(name: string): Viewer {
  return { account_id: name, role: 'MARKET_MAKER' };
}

function party(name: string): Party {
  return { account_id: name, display_name: `${name} Ltd`, alias: `alias-of-${name}` };
}

/** Terms of an auction that fills every field of every view at some time. */
export function storyTerms(different: Partial<Terms> = {}): Terms {
  return bareTerms({ limit_price_atoms: 700_000, client_reference: 'note-of-olga', ...different });
}

/** The same without the fields that an originator may leave out. */
export function bareTerms(different: Partial<Terms> = {}): Terms {
  return {
    auction_id: '0a000000-0000-8000-8000-000000000001',
    rule_version: 1,
    originator: party('olga'),
    side: 'BUY',
    quantity_atoms: 10_000_000,
    routes: [{ venue: 'venue_a', contract_id: 'rain', outcome: 'YES', title: 'Rain tomorrow' }],
    grid: {
      price_tick_atoms: 1_000,
      min_price_atoms: 1_000,
      max_price_atoms: 999_000,
      quantity_step_atoms: 1_000_000,
    },
    min_fill_quantity_atoms: 1_000_000,
    allocation: 'SPLIT',
    max_winners: 8,
    opened_at: OPENED_AT,
    closes_at: CLOSES_AT,
    quote_revision_policy: 'FREE',
    audience: ['mia', 'max', 'moe', 'may'].map(party),
    identity_policy: { originator: 'ANONYMOUS', market_makers: 'ANONYMOUS' },
    result_disclosure: 'OWN_RESULT',
    execution_deadline_ms: 60_000,
    ...different,
  };
}

/**
 * One auction, event by event, for tests of views. It does not check the rules: its caller decides what happened, winners
 * included. Positions have gaps, as in the journal of a shard with other auctions.
 */
export class AuctionStory {
  readonly events: Placed<AuctionEvent>[] = [];
  private current: AuctionState | undefined;
  private now: Instant = OPENED_AT;
  private appointed: Instant | undefined;

  constructor(readonly terms: Terms = storyTerms()) {
    this.happens({ type: 'AUCTION_OPENED', data: { terms, hold: [] } }, OPENED_AT);
  }

  get state(): AuctionState {
    if (this.current === undefined) throw new Error('nothing has happened yet');
    return this.current;
  }

  get lastPosition(): number {
    return this.events.at(-1)?.position ?? 0;
  }

  /** Sets the time of the next event. */
  at(moment: Instant): this {
    this.appointed = moment;
    return this;
  }

  happens(body: AuctionEventBody, at: Instant = this.later()): this {
    const event: AuctionEvent = { ...body, version: 1, at, auction_id: this.terms.auction_id };
    const placed = { position: this.lastPosition + 3, event };
    this.events.push(placed);
    this.current = evolve(this.current, placed);
    return this;
  }

  submits(maker: string, different: Partial<QuoteTerms> = {}): this {
    const at = this.later();
    const quote: QuoteTerms = {
      quote_id: `quote-of-${maker}`,
      maker,
      revision: 1,
      price_atoms: 500_000,
      quantity_atoms: 4_000_000,
      min_quantity_atoms: 1_000_000,
      submitted_at: at,
      hold: [],
      ...different,
    };
    return this.happens({ type: 'QUOTE_SUBMITTED', data: { quote } }, at);
  }

  revises(maker: string, different: Partial<QuoteTerms>): this {
    const standing = this.quoteOf(maker);
    const { quote_id, revision, price_atoms, quantity_atoms, min_quantity_atoms, submitted_at } = standing;
    const terms = { quote_id, maker, price_atoms, quantity_atoms, min_quantity_atoms, submitted_at };
    const before = { ...terms, hold: holdOf(standing) };
    const quote = { ...before, revision: revision + 1, ...different };
    return this.happens({ type: 'QUOTE_REVISED', data: { quote, keeps_priority: false } });
  }

  withdraws(maker: string, by: WithdrawnBy = 'MARKET_MAKER'): this {
    return this.happens({
      type: 'QUOTE_WITHDRAWN',
      data: { quote_id: this.quoteOf(maker).quote_id, maker, by },
    });
  }

  expires(maker: string): this {
    const { quote_id, expires_at } = this.quoteOf(maker);
    return this.happens({ type: 'QUOTE_EXPIRED', data: { quote_id, maker } }, expires_at);
  }

  isRefused(maker: string, operation: QuoteOperation, quoteId?: string): this {
    const data = { maker, operation, error: 'INVALID_PRICE_TICK', message: 'The price is off the grid.' };
    return this.happens({
      type: 'QUOTE_REJECTED',
      data: quoteId === undefined ? data : { ...data, quote_id: quoteId },
    });
  }

  cancelled(by: CancelledBy = 'ORIGINATOR', reason = 'reason-of-olga'): this {
    const type = by === 'ORIGINATOR' ? 'AUCTION_CANCELLED' : 'AUCTION_VOIDED';
    const at = this.later();
    return this.happens({ type, data: { by, reason } }, at).happens(
      { type: 'AUCTION_COMPLETED', data: { status: by === 'ORIGINATOR' ? 'CANCELLED' : 'VOIDED' } },
      at,
    );
  }

  closes(): this {
    return this.happens({ type: 'AUCTION_CLOSED', data: {} }, CLOSES_AT);
  }

  /** Closes and awards to these makers, in the order of their rank. */
  awards(quantities: Readonly<Record<string, number>>): this {
    const awards = Object.entries(quantities).map(([maker, quantity]): AwardTerms => {
      const { quote_id, price_atoms } = this.quoteOf(maker);
      const terms = { award_id: `award-of-${maker}`, quote_id, maker, price_atoms, quantity_atoms: quantity };
      return { ...terms, maker_hold: [], originator_hold: [] };
    });
    const execution_deadline = plusMillis(CLOSES_AT, this.terms.execution_deadline_ms);
    return this.closes().happens(
      { type: 'AUCTION_AWARDED', data: { awards, execution_deadline } },
      CLOSES_AT,
    );
  }

  awardsNobody(reason: NotAwardedReason): this {
    return this.closes()
      .happens({ type: 'AUCTION_NOT_AWARDED', data: { reason } }, CLOSES_AT)
      .happens({ type: 'AUCTION_COMPLETED', data: { status: 'NO_AWARD' } }, CLOSES_AT);
  }

  executes(maker: string, step: 'SUBMITTED' | 'RETRYING' | 'CONFIRMED' | 'FAILED', reason?: string): this {
    const data = { award_id: `award-of-${maker}`, attempt: 1 };
    return this.happens({
      type: `EXECUTION_${step}`,
      data: reason === undefined ? data : { ...data, reason },
    });
  }

  completes(status: CompletedStatus): this {
    return this.happens({ type: 'AUCTION_COMPLETED', data: { status } }, this.now);
  }

  private quoteOf(maker: string) {
    const quote = bookOf(this.state, maker)?.quotes.at(-1);
    if (quote === undefined) throw new Error(`${maker} has no quote`);
    return quote;
  }

  private later(): Instant {
    const from = this.current?.closed_at !== undefined && this.now < CLOSES_AT ? CLOSES_AT : this.now;
    this.now = this.appointed ?? plusMillis(from, 1_000);
    this.appointed = undefined;
    return this.now;
  }
}
