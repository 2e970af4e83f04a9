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

/** Opens the auction once more with what its terms ask for, and says where the rules would have frozen something else. */
export function objectionToOpening({
  at,
  auction_id: id,
  data: { terms, hold },
}: Opened): string | undefined {
  if (terms.rule_version !== RULE_VERSION) {
    return `it was held by rule ${terms.rule_version}, and this is rule ${RULE_VERSION}: replay it with a build of its time`;
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
  if (difference !== undefined) return `the rules freeze another ${difference}`;
  return isSame(holdNeeded(planned.need, hold), hold)
    ? undefined
    : 'it sets aside what its terms do not need';
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

/** What the registry said of each route is not in the journal, but for the grid that came of all of them. */
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

/** What `need` asks to be set aside by a party whose outcome tokens are those of `hold`: the same again, if it was right. */
export function holdNeeded(need: Need, hold: readonly Hold[]): Hold[] {
  return holdFor(need, (route) => tokensIn(hold, route));
}
