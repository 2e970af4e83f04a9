import type { PreflightDesk, ReserveRequest } from '../admission/reservation-desk.js';
import { holdOf } from '../rules/held.js';
import type { Instant } from '#libs/base/instant.js';
import { needOf } from '../rules/decide/plan-submit.js';
import { checkQuoteTerms } from '../rules/decide/quote-terms.js';
import { activeQuote } from '../rules/state.js';
import type { Grid } from '../rules/terms.js';
import { viewerOf } from '../rules/told/viewer.js';
import { fault, type LinkReply, reply } from '#libs/link/link-protocol.js';
import type { OwnerRequest } from '../protocol/protocol.js';
import type { Conditions } from '#libs/shard/conditions/conditions.js';
import { UNAVAILABLE } from './auction-task.js';
import type { CompletedAuctions } from './ports.js';
import { planOf } from './tasks/create-task.js';
import type { ShardContext } from './tasks/shard-context.js';

type Preflight<Op extends OwnerRequest['op']> = Extract<OwnerRequest, { op: Op }>;

export interface PreflightPorts {
  readonly context: ShardContext;
  readonly desk: PreflightDesk;
  readonly conditions: Conditions;
  readonly completed: CompletedAuctions;
  readonly now: () => Instant;
}

const UNSAFE = fault(500, 'internal_error');
const NOT_FOUND = fault(404, 'auction_not_found');
const FORBIDDEN = fault(403, 'forbidden');
const NOT_OPEN = fault(422, 'auction_rejected', 'The auction is not open.');

/** Answers whether a create or a quote would be accepted with the capacity at hand. Changes nothing. */
export class Preflights {
  constructor(private readonly ports: PreflightPorts) {}

  async ofOriginator(request: Preflight<'originator_preflight'>): Promise<LinkReply> {
    const { context, conditions, now } = this.ports;
    if (conditions.isUnsafe() || context.book.liveCount >= context.activeAuctionLimit) return UNSAFE;
    await context.policy.freshenForCreate(request.body);
    if (!context.policy.isKnown) return UNSAFE;
    // No auction is opened, so any id will do. It is used only for aliases that are never shown.
    const auctionId = context.ids.auction(request.account, request.request_id);
    const plan = planOf(context, request, auctionId, now());
    if (!plan.ok) return fault(plan.status, plan.error, plan.message);
    const { account } = request;
    return this.verdict({ account, need: plan.need, current: [] }, plan.terms.grid);
  }

  async ofQuote(request: Preflight<'quote_preflight'>): Promise<LinkReply> {
    const { context, completed, now } = this.ports;
    // A caller without access causes the same look-ups whether or not the auction exists.
    const state = context.book.findFor(request.account, request.auction_id)?.durable;
    const viewer = state === undefined ? undefined : viewerOf(state, request.account);
    if (state === undefined || viewer === undefined) {
      const role = await completed.roleOn(request.auction_id, request.account);
      if (role === undefined) return NOT_FOUND;
      return role === 'ORIGINATOR' ? FORBIDDEN : NOT_OPEN;
    }
    if (viewer.role === 'ORIGINATOR') return FORBIDDEN;
    await context.policy.freshenForQuote(request.account);
    if (!context.policy.isKnownFor(request.account)) return UNAVAILABLE;
    const { terms } = state;
    const at = now();
    if (state.status !== 'OPEN' || at >= terms.closes_at) return NOT_OPEN;
    const refusal =
      context.policy.judgeQuote(request.account, terms, request.quantity_atoms, at) ??
      checkQuoteTerms(terms, { price_atoms: request.price_atoms, quantity_atoms: request.quantity_atoms });
    if (refusal !== undefined) return fault(refusal.status, refusal.error, refusal.message);
    const { account, price_atoms: price, quantity_atoms: quantity } = request;
    const current = holdOf(activeQuote(state, account));
    return this.verdict(
      { account, need: needOf(terms, price, quantity), current, forQuote: true },
      terms.grid,
    );
  }

  private async verdict(request: ReserveRequest, { quantity_step_atoms: step }: Grid): Promise<LinkReply> {
    try {
      const verdict = await this.ports.desk.preflight(request, step);
      return 'ok' in verdict ? fault(verdict.status, verdict.error, verdict.message) : reply(200, verdict);
    } catch {
      // The evidence contradicts itself or is missing. Either way nothing can be promised.
      return UNSAFE;
    }
  }
}
