import fc from 'fast-check';
import { evolve } from '#libs/auction/rules/evolve/evolve.js';
import type { Decided, Decision } from '#libs/auction/rules/decided.js';
import type { AuctionEvent, AuctionEventBody, Placed, QuoteOperation } from '#libs/auction/rules/events.js';
import { plusMillis, type Instant } from '#libs/base/instant.js';
import type { Rejection } from '#libs/base/rejection.js';
import { bookOf, isLive, type AuctionState } from '#libs/auction/rules/state.js';
import { isOverFor } from '#libs/auction/rules/told/viewer.js';
import { aContract, at, type Tokens } from './builders.js';
import { cancels, closes, expires, opens, reports, revises, submits, voids, withdraws } from './commands.js';
import type { CommandUnderTest } from './commands.js';
import { placed } from './given.js';
import {
  anySession,
  priceAt,
  SESSION_MAKERS,
  SESSION_ROUTES,
  type Inventory,
  type SessionMove,
  type SessionReport,
  type PlannedSession,
} from './sessions.js';

export interface Played {
  readonly events: readonly Placed<AuctionEvent>[];
  /** The auction after each of the events. */
  readonly states: readonly AuctionState[];
  readonly refusals: readonly Rejection[];
  /** The last of the states. */
  readonly end: AuctionState;
}

/** Asserts that `holds` passes for the result of any session. */
export function inAnySession(holds: (played: Played) => void, numRuns = 400): void {
  fc.assert(
    fc.property(anySession, (session) => holds(play(session))),
    { numRuns },
  );
}

/**
 * Plays the session as an owner would: the rules decide everything, refusals are journaled, and the auction closes at some time.
 */
export function play(session: PlannedSession): Played {
  const stage = new Stage(session);
  for (const move of session.moves) stage.makes(move);
  stage.falls();
  for (const report of session.reports) stage.hears(report);
  return stage.played();
}

class Stage {
  private readonly events: Placed<AuctionEvent>[] = [];
  private readonly states: AuctionState[] = [];
  private readonly refusals: Rejection[] = [];
  private now: Instant = at(0);
  /** After the epoch record of the owner. */
  private position = 2;

  constructor(private readonly session: PlannedSession) {
    const { tick, step } = session.grid;
    const grid = { price_tick_atoms: tick, quantity_step_atoms: step };
    const contracts = session.create.routes.map((route) => aContract({ ...route, ...grid }));
    const opening = opens(session.create, { contracts, makers: SESSION_MAKERS }, tokensIn(session.inventory));
    this.journals(opening);
  }

  played(): Played {
    const { events, states, refusals } = this;
    return { events, states, refusals, end: this.state };
  }

  makes(move: SessionMove): void {
    this.now = plusMillis(this.now, move.after);
    this.position += move.gap;
    if (move.punctual) this.does(this.due());
    const maker = SESSION_MAKERS[move.maker] ?? '';
    const operation = move.act;
    if (operation === 'CANCEL') this.tries(cancels('enough', this.now), cancelRejected);
    else if (operation === 'VOID') this.tries(voids({ by: 'OPERATOR', reason: 'in dispute' }, this.now));
    else if (operation !== 'NOTHING') {
      this.tries(this.quoteCommand(move, maker), (refusal) => this.quoteRejected(refusal, operation, maker));
    }
  }

  /** Closes the auction if it has not ended before. */
  falls(): void {
    this.now = this.now < this.state.terms.closes_at ? this.state.terms.closes_at : this.now;
    this.does(this.due());
  }

  hears({ after, award, step, attempt, gap }: SessionReport): void {
    this.now = plusMillis(this.now, after);
    this.position += gap;
    const awardId = this.state.awards[award]?.award_id ?? 'award-of-nobody';
    this.tries(reports({ award_id: awardId, step, attempt }, this.now));
  }

  private get state(): AuctionState {
    return this.states.at(-1)!;
  }

  private due(): CommandUnderTest {
    return this.now < this.state.terms.closes_at ? expires(this.now) : closes();
  }

  private quoteCommand(move: SessionMove, maker: string): CommandUnderTest {
    const { now, session } = this;
    const latest = bookOf(this.state, maker)?.quotes.at(-1);
    const revision = latest === undefined || !move.expectsLatest ? 7 : latest.revision;
    const tokens = tokensIn(session.inventories[move.maker] ?? []);
    const around = { now, tokens, quote_id: latest?.quote_id ?? 'quote-of-nobody' };
    const { step } = session.grid;
    const terms = {
      price_atoms: priceAt(session.grid, move.price),
      quantity_atoms: move.quantity * step,
      ...(move.minimum === undefined ? {} : { min_quantity_atoms: move.minimum * step }),
      ...(move.expiresIn === undefined ? {} : { expires_at: plusMillis(now, move.expiresIn) }),
    };
    if (move.act === 'REVISE') return revises(maker, { ...terms, expected_revision: revision }, around);
    if (move.act === 'WITHDRAW') return withdraws(maker, { quote_id: around.quote_id }, now);
    return submits(maker, terms, { ...around, quote_id: `quote-${this.position}` });
  }

  private quoteRejected(
    { error, message }: Rejection,
    operation: QuoteOperation,
    maker: string,
  ): AuctionEventBody | undefined {
    if (isOverFor(this.state, { account_id: maker, role: 'MARKET_MAKER' })) return undefined;
    const refused = { maker, operation, error, message };
    if (operation === 'SUBMIT') return { type: 'QUOTE_REJECTED', data: refused };
    const latest = bookOf(this.state, maker)?.quotes.at(-1);
    // A refusal for a quote that does not exist is answered, but not recorded.
    return latest && { type: 'QUOTE_REJECTED', data: { ...refused, quote_id: latest.quote_id } };
  }

  private tries(
    command: CommandUnderTest,
    asEvent?: (refusal: Rejection) => AuctionEventBody | undefined,
  ): void {
    const answer = command(this.state);
    if (!('ok' in answer) || answer.ok) {
      this.does(answer);
      return;
    }
    this.refusals.push(answer);
    const body = answer.status === 422 && this.isTold() ? asEvent?.(answer) : undefined;
    if (body !== undefined) this.journals({ at: this.now, body });
  }

  /** Refusals after the end, or after a close that is not journaled yet, do not belong to the auction. */
  private isTold(): boolean {
    const { status, terms } = this.state;
    return isLive(status) && !(status === 'OPEN' && this.now >= terms.closes_at);
  }

  private does(decided: CommandUnderTest | Decision | readonly Decided[]): void {
    const answer = typeof decided === 'function' ? decided(this.state) : decided;
    const events = 'ok' in answer ? (answer.ok ? answer.events : []) : answer;
    for (const event of events) this.journals(event);
  }

  private journals(decided: Decided): void {
    const before = this.states.at(-1);
    const opening = decided.body.type === 'AUCTION_OPENED' ? decided.body.data.terms : this.state.terms;
    const event = placed(decided, this.position, opening.auction_id);
    this.position += 1;
    this.events.push(event);
    this.states.push(evolve(before, event));
  }
}

function cancelRejected({ error, message }: Rejection): AuctionEventBody {
  return { type: 'CANCEL_REJECTED', data: { error, message } };
}

function tokensIn(inventory: Inventory): Tokens {
  return ({ contract_id: id }) =>
    inventory[SESSION_ROUTES.findIndex((route) => route.contract_id === id)] ?? 0;
}
