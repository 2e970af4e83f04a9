import type { ContractFacts, CreateBody, CreateFacts } from '../commands.js';
import { type Instant, plusMillis } from '#libs/base/instant.js';
import { checkReference } from './open-check.js';
import { rejected, type Rejection } from '#libs/base/rejection.js';
import type { Grid } from '../terms.js';

const MAX_ROUTES = 8;
const MIN_DURATION_MS = 1_000;
const MAX_DURATION_MS = 86_400_000;
const MIN_WINNERS = 2;
const MAX_WINNERS = 16;
const MIN_EXECUTION_MS = 5_000;
const MAX_EXECUTION_MS = 900_000;

type CheckedRoutes = { readonly ok: true; readonly contracts: readonly ContractFacts[] } | Rejection;

/** Checks the routes in this order: form, registration, policy, markets. */
export function checkRoutes(body: CreateBody, facts: CreateFacts): CheckedRoutes {
  const names = new Set(
    body.routes.map((route) => JSON.stringify([route.venue, route.contract_id, route.outcome])),
  );
  if (body.routes.length < 1 || body.routes.length > MAX_ROUTES || names.size < body.routes.length) {
    return rejected('INVALID_TERMS', `An auction has 1 to ${MAX_ROUTES} routes, each once.`);
  }
  const contracts: ContractFacts[] = [];
  for (const contract of facts.contracts) {
    if (contract === undefined) {
      return rejected('ROUTE_UNAVAILABLE', 'One of the routes names a contract that is not registered.');
    }
    contracts.push(contract);
  }
  if (facts.policy !== undefined) return facts.policy;
  if (contracts.some((contract) => contract.status !== 'TRADING')) {
    return rejected('MARKET_NOT_TRADABLE', 'The market of one of the routes is not trading.');
  }
  if (new Set(contracts.map((contract) => contract.equivalence_id)).size > 1) {
    return rejected('ROUTES_NOT_EQUIVALENT', 'The routes are not registered as settling alike.');
  }
  return { ok: true, contracts };
}

export function scheduleOf(
  body: CreateBody,
  now: Instant,
  contracts: readonly ContractFacts[],
): Instant | Rejection {
  const closesAt = closeOf(body, now);
  if (closesAt === undefined) {
    return rejected(
      'INVALID_SCHEDULE',
      'An auction has either duration_ms or closes_at, from one second to 24 hours from now.',
    );
  }
  return contracts.some((contract) => contract.closes_at <= closesAt)
    ? rejected(
        'MARKET_CLOSES_BEFORE_AUCTION',
        'The market of one of the routes closes before the auction would.',
      )
    : closesAt;
}

function closeOf({ duration_ms: duration, closes_at: end }: CreateBody, now: Instant): Instant | undefined {
  if ((duration === undefined) === (end === undefined)) return undefined;
  if (duration !== undefined) {
    return duration >= MIN_DURATION_MS && duration <= MAX_DURATION_MS ? plusMillis(now, duration) : undefined;
  }
  if (end === undefined) return undefined;
  return end >= plusMillis(now, MIN_DURATION_MS) && end <= plusMillis(now, MAX_DURATION_MS) ? end : undefined;
}

export function checkFill(body: CreateBody, grid: Grid): Rejection | undefined {
  const { min_fill_quantity_atoms: fill, max_winners: winners } = body;
  if (fill !== undefined) {
    if (fill === 0 || fill > body.quantity_atoms) {
      return rejected('INVALID_TERMS', 'The minimum fill lies between one step and the whole quantity.');
    }
    if (fill % grid.quantity_step_atoms !== 0) {
      return rejected(
        'INVALID_QUANTITY_STEP',
        `The minimum fill must be a multiple of ${grid.quantity_step_atoms} atoms.`,
      );
    }
  }
  if (winners === undefined) return undefined;
  if (body.allocation !== 'SPLIT') return rejected('INVALID_TERMS', 'max_winners belongs to a SPLIT alone.');
  return winners >= MIN_WINNERS && winners <= MAX_WINNERS
    ? undefined
    : rejected('INVALID_TERMS', `max_winners lies between ${MIN_WINNERS} and ${MAX_WINNERS}.`);
}

export function checkRest(body: CreateBody): Rejection | undefined {
  const { execution_deadline_ms: deadline, client_reference: reference } = body;
  if (deadline !== undefined && (deadline < MIN_EXECUTION_MS || deadline > MAX_EXECUTION_MS)) {
    return rejected(
      'INVALID_TERMS',
      `execution_deadline_ms lies between ${MIN_EXECUTION_MS} and ${MAX_EXECUTION_MS}.`,
    );
  }
  return checkReference(reference);
}
