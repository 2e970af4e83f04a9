import type { QuoteFacts } from '../../rules/commands.js';
import type { Instant } from '#libs/base/instant.js';
import { planRevise, revised } from '../../rules/decide/plan-revise.js';
import { planSubmit, submitted } from '../../rules/decide/plan-submit.js';
import { rejected } from '#libs/base/rejection.js';
import type { AuctionState } from '../../rules/state.js';
import { decideWithdraw } from '../../rules/decide/withdraw.js';
import type { OwnerRequest } from '../../protocol/protocol.js';
import { commandsOf, type QuoteRule } from './quote-task.js';
import type { ShardContext } from './shard-context.js';

type Submit = Extract<OwnerRequest, { op: 'submit' }>;
type Revise = Extract<OwnerRequest, { op: 'revise' }>;
type Withdraw = Extract<OwnerRequest, { op: 'withdraw' }>;

export function submitRule(context: ShardContext, request: Submit): QuoteRule {
  const quoteId = context.ids.quote(request.auction_id, request.account, request.key);
  const { connection_id: connectionId } = request;
  return {
    operation: 'SUBMIT',
    quoteId: undefined,
    created: 201,
    plan(state, now) {
      const facts = factsOf(context, state, request.account, request.body.quantity_atoms, now);
      const plan = planSubmit(state, request.body, { ...facts, quote_id: quoteId });
      if (!plan.ok) return plan;
      return {
        ok: true,
        quoteId,
        reserve: { need: plan.need, current: [] },
        body: (hold) => submitted(plan.quote, hold, connectionId),
        ...(connectionId === undefined
          ? {}
          : { before: () => context.connections.noteBeforeQuote(connectionId, request.account) }),
      };
    },
  };
}

export function reviseRule(context: ShardContext, request: Revise): QuoteRule {
  return {
    operation: 'REVISE',
    quoteId: request.quote_id,
    created: 200,
    plan(state, now) {
      const facts = factsOf(context, state, request.account, request.body.quantity_atoms ?? 0, now);
      const plan = planRevise(state, request.quote_id, request.body, facts);
      if (!plan.ok) return plan;
      return {
        ok: true,
        quoteId: request.quote_id,
        reserve: { need: plan.need, current: plan.current },
        body: (hold) => revised(plan, hold),
      };
    },
  };
}

export function withdrawRule(request: Withdraw): QuoteRule {
  return {
    operation: 'WITHDRAW',
    quoteId: request.quote_id,
    created: 200,
    plan(state, now) {
      const decided = decideWithdraw(
        state,
        {
          quote_id: request.quote_id,
          by: 'MARKET_MAKER',
          ...(request.expected_revision === undefined
            ? {}
            : { expected_revision: request.expected_revision }),
        },
        { now },
      );
      if (!decided.ok) return decided;
      const event = decided.events[0];
      if (event === undefined)
        return rejected('QUOTE_NOT_WITHDRAWABLE', 'The quote cannot be withdrawn any more.');
      return { ok: true, quoteId: request.quote_id, body: () => event.body };
    },
  };
}

function factsOf(
  context: ShardContext,
  state: AuctionState,
  maker: string,
  quantity: number,
  now: Instant,
): QuoteFacts {
  const policy =
    commandsOf(state, maker) >= context.commandsPerMakerLimit
      ? rejected(
          'SERVICE_CAPACITY_EXCEEDED',
          'This auction takes no more commands from you; your quote stands as it is.',
        )
      : context.policy.judgeQuote(maker, state.terms, quantity, now);
  return { maker, now, policy };
}
