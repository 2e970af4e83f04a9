import { expect } from '@jest/globals';
import type { Decided, Decision } from '#libs/auction/rules/decided.js';
import type { AuctionEvent, EventType, Placed } from '#libs/auction/rules/events.js';
import { evolve } from '#libs/auction/rules/evolve/evolve.js';
import type { Instant } from '#libs/base/instant.js';
import type { ConflictCode, RejectionCode } from '#libs/base/rejection.js';
import type { AuctionState } from '#libs/auction/rules/state.js';
import { versionOf } from '#libs/auction/rules/event-versions.js';
import type { NextEvent } from './builders.js';
import type { CommandUnderTest } from './commands.js';

/** An event as a test expects it. Matchers may stand in for any part of its data. */
export type Expected = readonly [at: Instant, type: EventType, data: unknown];

/** Positions have gaps, as in the journal of a shard with other auctions. */
const BETWEEN = 3;

export function placed({ at, body }: Decided, position: number, auctionId: string): Placed<AuctionEvent> {
  return { position, event: { ...body, version: versionOf(body.type), at, auction_id: auctionId } };
}

/** What a history may contain: events, events that depend on the state, and commands that were accepted. */
export type Past = Decided | NextEvent | CommandUnderTest;

/** `given(history).when(command).then(events)` or `.thenRefused(code)`. */
export function given(...history: readonly Past[]): Given {
  return history.reduce<Given>((story, next) => story.and(next), new Given(undefined, 0));
}

export class Given {
  constructor(
    private readonly current: AuctionState | undefined,
    private readonly position: number,
  ) {}

  get state(): AuctionState {
    if (this.current === undefined) throw new Error('nothing has happened yet');
    return this.current;
  }

  and(next: Past): Given {
    const events = eventsOf(typeof next === 'function' ? next(this.state) : next);
    return events.reduce<Given>((story, event) => story.after(event), this);
  }

  when(command: CommandUnderTest): DecisionOutcome {
    return outcomeOf(command(this.state), this);
  }

  private after(decided: Decided): Given {
    const opening = decided.body.type === 'AUCTION_OPENED' ? decided.body.data.terms : this.state.terms;
    const position = this.position + BETWEEN;
    return new Given(evolve(this.current, placed(decided, position, opening.auction_id)), position);
  }
}

export function outcomeOf(answer: Decision | readonly Decided[], before?: Given): DecisionOutcome {
  return new DecisionOutcome(answer, before);
}

export class DecisionOutcome {
  constructor(
    private readonly answer: Decision | readonly Decided[],
    private readonly before: Given | undefined,
  ) {}

  then(...expected: readonly Expected[]): void {
    const events = eventsOf(this.answer).map(({ at, body }) => [at, body.type, body.data]);
    expect(events).toEqual(expected);
  }

  /** The message is for a trader. It names no account, and gives away nothing that only one side knows. */
  thenRefused(error: RejectionCode | ConflictCode): void {
    const status = error === error.toLowerCase() && error !== 'auction_rejected' ? 409 : 422;
    expect(this.answer).toEqual({
      ok: false,
      status,
      error,
      message: expect.stringMatching(/^[A-Za-z].+\.$/),
    });
    if (!('message' in this.answer) || this.before === undefined) return;
    const { originator, audience } = this.before.state.terms;
    for (const { account_id, alias } of [originator, ...audience]) {
      expect(this.answer.message).not.toContain(account_id);
      expect(this.answer.message).not.toContain(alias);
    }
  }
}

function eventsOf(answer: Decided | Decision | readonly Decided[]): readonly Decided[] {
  if ('body' in answer) return [answer];
  if (!('ok' in answer)) return answer;
  if (!answer.ok) throw new Error(`refused with ${answer.error}: ${answer.message}`);
  return answer.events;
}
