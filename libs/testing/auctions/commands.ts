import { decideCancel, decideVoid } from '#libs/auction/rules/decide/void.js';
import { decideClose, decideExpiries } from '#libs/auction/rules/decide/close.js';
import type {
  CreateBody,
  CreateFacts,
  EndRequest,
  ReviseBody,
  SubmitBody,
} from '#libs/auction/rules/commands.js';
import type { Decided, Decision } from '#libs/auction/rules/decided.js';
import type { WithdrawnBy } from '#libs/auction/rules/events.js';
import { decideExecution, type ExecutionReport } from '#libs/auction/rules/decide/execution.js';
import type { Instant } from '#libs/base/instant.js';
import { opened, planCreate } from '#libs/auction/rules/decide/plan-create.js';
import { planRevise, revised } from '#libs/auction/rules/decide/plan-revise.js';
import { planSubmit, submitted } from '#libs/auction/rules/decide/plan-submit.js';
import type { Rejection } from '#libs/base/rejection.js';
import type { AuctionState } from '#libs/auction/rules/state.js';
import { decideWithdraw } from '#libs/auction/rules/decide/withdraw.js';
import { aCreate, aParty, at, createFacts, grantFor, NO_TOKENS, type Tokens } from './builders.js';

/** A command as the owner executes it when capacity is never short. */
export type CommandUnderTest = (state: AuctionState) => Decision | readonly Decided[];

/** The circumstances of a quote command. By default: five seconds after the opening, no objection, no outcome tokens. */
export interface Around {
  readonly now?: Instant;
  readonly policy?: Rejection;
  readonly tokens?: Tokens;
}

const SOON = at(5_000);

export function creates(body: Partial<CreateBody> = {}, facts: Partial<CreateFacts> = {}): Decision {
  const plan = planCreate(aCreate(body), createFacts(facts));
  if (!plan.ok) return plan;
  const bodies = opened(plan.terms, grantFor(plan.need));
  return { ok: true, events: bodies.map((body) => ({ at: plan.terms.opened_at, body })) };
}

/**
 * The opening of an auction on these contracts with these makers. Throws if the rules refuse it, which is a mistake of the test.
 */
export function opens(
  body: CreateBody,
  { contracts, makers }: { contracts: CreateFacts['contracts']; makers: readonly string[] },
  tokens: Tokens = NO_TOKENS,
): Decided {
  const plan = planCreate(
    body,
    createFacts({ contracts, audience: { ok: true, makers: makers.map(aParty) } }),
  );
  if (!plan.ok) throw new Error(`${plan.error}: ${plan.message}`);
  const [event] = opened(plan.terms, grantFor(plan.need, tokens));
  if (event === undefined) throw new Error('an auction opens with an event');
  return { at: plan.terms.opened_at, body: event };
}

export function submits(
  maker: string,
  different: Partial<SubmitBody> = {},
  { now = SOON, policy, tokens = NO_TOKENS, ...named }: Around & { readonly quote_id?: string } = {},
): CommandUnderTest {
  return (state) => {
    const body = { price_atoms: 500_000, quantity_atoms: 4_000_000, ...different };
    const facts = { maker, now, policy, quote_id: named.quote_id ?? `new-quote-of-${maker}` };
    const plan = planSubmit(state, body, facts);
    if (!plan.ok) return plan;
    return accepted(now, submitted(plan.quote, grantFor(plan.need, tokens)));
  };
}

export function revises(
  maker: string,
  different: Partial<ReviseBody>,
  { now = SOON, policy, tokens = NO_TOKENS, ...named }: Around & { readonly quote_id?: string } = {},
): CommandUnderTest {
  return (state) => {
    const body = { expected_revision: 1, ...different };
    const plan = planRevise(state, named.quote_id ?? `quote-of-${maker}`, body, { maker, now, policy });
    if (!plan.ok) return plan;
    return accepted(now, revised(plan, grantFor(plan.need, tokens)));
  };
}

export function withdraws(
  maker: string,
  different: { by?: WithdrawnBy; expected_revision?: number; quote_id?: string } = {},
  now: Instant = SOON,
): CommandUnderTest {
  const request = { quote_id: `quote-of-${maker}`, by: 'MARKET_MAKER', ...different } as const;
  return (state) => decideWithdraw(state, request, { now });
}

export function cancels(reason?: string, now: Instant = SOON): CommandUnderTest {
  const request: EndRequest = reason === undefined ? { by: 'ORIGINATOR' } : { by: 'ORIGINATOR', reason };
  return (state) => decideCancel(state, request, { now });
}

export function voids(request: EndRequest, now: Instant = SOON): CommandUnderTest {
  return (state) => decideVoid(state, request, { now });
}

export function closes(): CommandUnderTest {
  return (state) => decideClose(state, { awardId: (quoteId) => `award-of-${quoteId}` });
}

export function expires(now: Instant): CommandUnderTest {
  return (state) => decideExpiries(state, now);
}

export function reports(report: ExecutionReport, now: Instant = at(61_000)): CommandUnderTest {
  return (state) => decideExecution(state, report, { now });
}

function accepted(now: Instant, body: Decided['body']): Decision {
  return { ok: true, events: [{ at: now, body }] };
}
