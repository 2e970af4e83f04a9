import type { ContractFacts, CreateBody, CreateFacts } from '../commands.js';
import { checkFill, checkRoutes, checkRest, scheduleOf } from './create-checks.js';
import type { AuctionEventBody } from '../events.js';
import { fillParts, type Need } from '../holds.js';
import type { Instant } from '#libs/base/instant.js';
import { HIGHEST_PRICE_ATOMS } from '#libs/base/money.js';
import { checkPrice } from './quote-terms.js';
import { rejected, type Rejection } from '#libs/base/rejection.js';
import {
  originatorReservePrice,
  RULE_VERSION,
  type Grid,
  type Hold,
  type Party,
  type Terms,
} from '../terms.js';

export interface PlannedAuction {
  readonly ok: true;
  readonly terms: Terms;
  readonly need: Need;
}

const SPLIT_WINNERS = 8;
const EXECUTION_DEADLINE_MS = 60_000;

/** All checks of a create but capacity, in this order: routes, policy, markets, schedule, sizes, prices, audience. */
export function planCreate(body: CreateBody, facts: CreateFacts): PlannedAuction | Rejection {
  const contracts = checkRoutes(body, facts);
  if (!contracts.ok) return contracts;
  const closesAt = scheduleOf(body, facts.now, contracts.contracts);
  if (typeof closesAt !== 'string') return closesAt;
  const grid = gridOf(contracts.contracts);
  if (!isUsable(grid)) {
    return rejected('ROUTES_NOT_EQUIVALENT', 'The routes have no price and no quantity in common.');
  }
  const refusal =
    checkSize(body, grid) ??
    (body.limit_price_atoms === undefined ? undefined : checkPrice(grid, body.limit_price_atoms)) ??
    checkFill(body, grid) ??
    checkRest(body);
  if (refusal !== undefined) return refusal;
  if (!facts.audience.ok) return facts.audience;
  const terms = termsOf(body, facts, contracts.contracts, { closesAt, grid, makers: facts.audience.makers });
  return { ok: true, terms, need: originatorNeed(terms) };
}

function checkSize({ quantity_atoms: quantity }: CreateBody, grid: Grid): Rejection | undefined {
  return quantity > 0 && quantity % grid.quantity_step_atoms === 0
    ? undefined
    : rejected(
        'INVALID_QUANTITY_STEP',
        `The quantity must be a positive multiple of ${grid.quantity_step_atoms} atoms.`,
      );
}

/** The least common multiple of the routes' grids: a price or quantity on it is valid on every route. */
function gridOf(contracts: readonly ContractFacts[]): Grid {
  const tick = contracts.map((contract) => contract.price_tick_atoms).reduce(leastCommonMultiple);
  const step = contracts.map((contract) => contract.quantity_step_atoms).reduce(leastCommonMultiple);
  return {
    price_tick_atoms: tick,
    min_price_atoms: tick,
    max_price_atoms: HIGHEST_PRICE_ATOMS - (HIGHEST_PRICE_ATOMS % tick),
    quantity_step_atoms: step,
  };
}

/** Ticks or steps with too large a common multiple leave no valid price or quantity. */
function isUsable({ max_price_atoms: highest, quantity_step_atoms: step }: Grid): boolean {
  return highest > 0 && step <= Number.MAX_SAFE_INTEGER;
}

function leastCommonMultiple(a: number, b: number): number {
  let [divisor, rest] = [a, b];
  while (rest !== 0) [divisor, rest] = [rest, divisor % rest];
  return (a / divisor) * b;
}

interface ResolvedTerms {
  readonly closesAt: Instant;
  readonly grid: Grid;
  readonly makers: readonly Party[];
}

function termsOf(
  body: CreateBody,
  facts: CreateFacts,
  contracts: readonly ContractFacts[],
  { closesAt, grid, makers }: ResolvedTerms,
): Terms {
  const allocation = body.allocation ?? 'SINGLE_WINNER';
  const usualFill = allocation === 'SPLIT' ? grid.quantity_step_atoms : body.quantity_atoms;
  return {
    auction_id: facts.auction_id,
    rule_version: RULE_VERSION,
    originator: facts.originator,
    side: body.side,
    quantity_atoms: body.quantity_atoms,
    routes: contracts.map(({ venue, contract_id, outcome, title }) => ({
      venue,
      contract_id,
      outcome,
      title,
    })),
    grid,
    ...(body.limit_price_atoms === undefined ? {} : { limit_price_atoms: body.limit_price_atoms }),
    min_fill_quantity_atoms: body.min_fill_quantity_atoms ?? usualFill,
    allocation,
    max_winners: allocation === 'SPLIT' ? (body.max_winners ?? SPLIT_WINNERS) : 1,
    opened_at: facts.now,
    closes_at: closesAt,
    quote_revision_policy: body.quote_revision_policy ?? 'FREE',
    audience: makers,
    identity_policy: {
      originator: body.identity_policy?.originator ?? 'ANONYMOUS',
      market_makers: body.identity_policy?.market_makers ?? 'ANONYMOUS',
    },
    result_disclosure: body.result_disclosure ?? 'OWN_RESULT',
    execution_deadline_ms: body.execution_deadline_ms ?? EXECUTION_DEADLINE_MS,
    ...(body.client_reference === undefined ? {} : { client_reference: body.client_reference }),
  };
}

/** The most that the awards could cost the originator, split among as many winners as allowed. */
export function originatorNeed(terms: Terms): Need {
  return {
    side: terms.side,
    routes: terms.routes,
    price_atoms: originatorReservePrice(terms),
    quantity_atoms: terms.quantity_atoms,
    parts: fillParts(terms.grid, terms.max_winners),
  };
}

export function opened(terms: Terms, hold: readonly Hold[]): AuctionEventBody[] {
  return [{ type: 'AUCTION_OPENED', data: { terms, hold } }];
}
