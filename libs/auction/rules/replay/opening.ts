import type { ContractFacts, CreateBody } from '../commands.js';
import type { AuctionEvent } from '../events.js';
import type { Instant } from '#libs/base/instant.js';
import { planCreate } from '../decide/plan-create.js';
import { firstDifference, isSame } from './canonical.js';
import { type Hold, RULE_VERSION, type Terms } from '../terms.js';
import { tokensIn } from '../decide/close.js';
import { holdFor, type Need } from '../holds.js';

type Opened = Extract<AuctionEvent, { type: 'AUCTION_OPENED' }>;

const NEVER: Instant = '9999-12-31T23:59:59.999999999Z';

/** Opens the auction again from its own terms, and reports where the rules would have produced other terms. */
export function objectionToOpening({
  at,
  auction_id: id,
  data: { terms, hold },
}: Opened): string | undefined {
  if (terms.rule_version !== RULE_VERSION) {
    return `it was decided by rule ${terms.rule_version}, and this program has rule ${RULE_VERSION}: replay it with an older build`;
  }
  const planned = planCreate(bodyOf(terms), {
    auction_id: id,
    originator: terms.originator,
    now: at,
    contracts: terms.routes.map((route) => contractOf(route, terms)),
    audience: { ok: true, makers: terms.audience },
    policy: undefined,
  });
  if (!planned.ok) return `the rules refuse these terms: ${planned.error}`;
  const difference = firstDifference(planned.terms, terms);
  if (difference !== undefined) return `the rules would give another ${difference}`;
  return isSame(holdNeeded(planned.need, hold), hold)
    ? undefined
    : 'its holds are not those that its terms need';
}

function bodyOf(terms: Terms): CreateBody {
  const { side, quantity_atoms, routes, allocation, closes_at } = terms;
  return {
    side,
    quantity_atoms,
    routes,
    ...(terms.limit_price_atoms === undefined ? {} : { limit_price_atoms: terms.limit_price_atoms }),
    min_fill_quantity_atoms: terms.min_fill_quantity_atoms,
    allocation,
    ...(allocation === 'SPLIT' ? { max_winners: terms.max_winners } : {}),
    closes_at,
    quote_revision_policy: terms.quote_revision_policy,
    audience: {},
    identity_policy: terms.identity_policy,
    result_disclosure: terms.result_disclosure,
    execution_deadline_ms: terms.execution_deadline_ms,
    ...(terms.client_reference === undefined ? {} : { client_reference: terms.client_reference }),
  };
}

/** The journal does not hold the registry's data of each route, only the grid that followed from all routes. */
function contractOf(route: Terms['routes'][number], { grid }: Terms): ContractFacts {
  return {
    ...route,
    equivalence_id: '',
    price_tick_atoms: grid.price_tick_atoms,
    quantity_step_atoms: grid.quantity_step_atoms,
    status: 'TRADING',
    closes_at: NEVER,
  };
}

/** The hold for `need` by a party that has the outcome tokens of `hold`. Equal to `hold` if that was right. */
export function holdNeeded(need: Need, hold: readonly Hold[]): Hold[] {
  return holdFor(need, (route) => tokensIn(hold, route));
}
