import fc from 'fast-check';
import type { OwnerRequest } from '#libs/auction/protocol/protocol.js';
import { activeQuote, isLive, type AuctionState } from '#libs/auction/rules/state.js';
import type { AwardToSettle } from '#libs/auction/settlement/settlement.js';
import type { ShardAnswer, LiveShard } from './shard-fixture.js';
import { cancelOrder, reviseOrder, submitOrder, withdrawAllOrder, withdrawOrder } from './shard-orders.js';
import { accountOf } from './shard-world.js';

const MAKERS = ['mia', 'max', 'moe'];
const ORIGINATORS = ['olga', 'otto'];
const STEP = 1_000_000;
const TICK = 1_000;

/** One action. Which auction or quote it concerns is decided when it is done. */
export interface Deed {
  readonly act:
    | 'CREATE'
    | 'SUBMIT'
    | 'SUBMIT_WRONG'
    | 'REVISE'
    | 'WITHDRAW'
    | 'WITHDRAW_ALL'
    | 'CANCEL'
    | 'REPORT'
    | 'WAIT';
  readonly who: number;
  readonly where: number;
  readonly price: number;
  readonly quantity: number;
}

const deed: fc.Arbitrary<Deed> = fc.record({
  act: fc.constantFrom<Deed['act']>(
    ...(['CREATE', 'SUBMIT', 'SUBMIT', 'SUBMIT', 'SUBMIT', 'SUBMIT_WRONG', 'REVISE', 'REVISE'] as const),
    ...(['WITHDRAW', 'WITHDRAW_ALL', 'CANCEL', 'REPORT', 'REPORT', 'WAIT'] as const),
  ),
  who: fc.nat(100),
  where: fc.nat(100),
  price: fc.integer({ min: 480, max: 520 }).map((ticks) => ticks * TICK),
  quantity: fc.integer({ min: 1, max: 10 }).map((steps) => steps * STEP),
});

/** Rounds of actions. The actions of one round are done at the same time. */
export function anyRounds(rounds: number): fc.Arbitrary<Deed[][]> {
  return fc.array(fc.array(deed, { minLength: 1, maxLength: 6 }), { minLength: rounds, maxLength: rounds });
}

/** A command and its reply, if there was one. */
export interface Told {
  readonly order: OwnerRequest;
  answer: ShardAnswer | undefined;
}

/** Does the actions as callers would, and remembers all replies. */
export class ShardSession {
  readonly told: Told[] = [];

  constructor(private live: LiveShard) {}

  /** Continues with another process. */
  continueWith(live: LiveShard): void {
    this.live = live;
  }

  /** Resolves when every caller has a reply. */
  async round(deeds: readonly Deed[]): Promise<void> {
    await Promise.all(this.begin(deeds));
  }

  /** Starts the actions. They may never be answered. */
  begin(deeds: readonly Deed[]): Promise<void>[] {
    return deeds.map((next) => this.does(next));
  }

  private async does(next: Deed): Promise<void> {
    if (next.act === 'WAIT') return this.live.leap(next.price / 20);
    if (next.act === 'REPORT') return this.reports(next);
    const order = this.orderFor(next);
    if (order === undefined) return;
    const told: Told = { order, answer: undefined };
    this.told.push(told);
    told.answer = await this.live.ask(order);
  }

  private orderFor({ act, who, where, price, quantity }: Deed): OwnerRequest | undefined {
    const originator = ORIGINATORS[who % ORIGINATORS.length] ?? '';
    if (act === 'CREATE')
      return this.live.createOrder(originator, { quantity_atoms: quantity, duration_ms: 60_000 + who });
    const maker = accountOf(MAKERS[who % MAKERS.length] ?? '');
    if (act === 'WITHDRAW_ALL') return who < 20 ? withdrawAllOrder(maker) : undefined;
    const open = this.states().filter(({ status }) => status === 'OPEN');
    const state = open[where % Math.max(1, open.length)];
    if (state === undefined) return undefined;
    const { auction_id: auctionId, quantity_atoms: most, originator: owner } = state.terms;
    if (act === 'CANCEL') return who < 20 ? cancelOrder(owner.account_id, auctionId) : undefined;
    const terms = { price_atoms: price, quantity_atoms: Math.min(quantity, most) };
    if (act === 'SUBMIT') return submitOrder(maker, auctionId, terms);
    if (act === 'SUBMIT_WRONG') return submitOrder(maker, auctionId, { ...terms, price_atoms: price + 1 });
    const quote = activeQuote(state, maker);
    if (quote === undefined) return undefined;
    const name = { auction_id: auctionId, quote_id: quote.quote_id };
    return act === 'WITHDRAW'
      ? withdrawOrder(maker, name)
      : reviseOrder(maker, name, { expected_revision: quote.revision, ...terms });
  }

  private async reports({ who, where, price }: Deed): Promise<void> {
    const { text } = await this.live.ask({ op: 'pending_awards', known: [], wait_ms: 0 });
    const awards = JSON.parse(text) as AwardToSettle[];
    const award = awards[where % Math.max(1, awards.length)];
    if (award === undefined) return;
    const step = (['SUBMITTED', 'RETRYING', 'CONFIRMED', 'FAILED'] as const)[who % 4] ?? 'SUBMITTED';
    const { auction_id, award_id } = award;
    await this.live.ask({ op: 'execution_report', auction_id, award_id, step, attempt: 1 + (price % 7) });
  }

  private states(): AuctionState[] {
    return [...this.live.shard.book.all()]
      .flatMap(({ durable }) => durable ?? [])
      .filter(({ status }) => isLive(status));
  }
}
