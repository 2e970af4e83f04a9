import type { Instant } from '#libs/base/instant.js';
import type { Atoms } from '#libs/base/money.js';
import { rejected, type Rejection } from '#libs/base/rejection.js';
import { judgeFreeze } from '../freezes.js';
import {
  contractsFor,
  type Halt,
  type Haltable,
  type PolicySnapshot,
  type TradingPrincipal,
  type RouteKey,
} from './policy-snapshot.js';

/** Whether this account may open an auction of this size on these routes. Undefined if it may. */
export function judgeCreate(
  snapshot: PolicySnapshot,
  account: string,
  routes: readonly RouteKey[],
  quantity: Atoms,
): Rejection | undefined {
  const principal = snapshot.principals.get(account);
  const allowed = principal?.is_originator === true && principal.may_create;
  return (
    judgeAccount(snapshot, 'CREATE', account, allowed ? principal : undefined, principal?.suspended) ??
    judgeRoutes(snapshot, 'CREATE', principal, routes) ??
    judgeSize(principal, quantity)
  );
}

/** Whether this maker may quote this size in an auction on these routes at `now`. Undefined if it may. */
export function judgeQuote(
  snapshot: PolicySnapshot,
  maker: string,
  routes: readonly RouteKey[],
  quantity: Atoms,
  now: Instant,
): Rejection | undefined {
  const principal = snapshot.principals.get(maker);
  const allowed = principal?.is_maker === true && principal.may_quote;
  return (
    judgeAccount(snapshot, 'QUOTE', maker, allowed ? principal : undefined, principal?.suspended) ??
    judgeRoutes(snapshot, 'QUOTE', principal, routes) ??
    judgeMarkets(snapshot, routes) ??
    judgeFreeze(snapshot.frozen, maker, now) ??
    judgeSize(principal, quantity)
  );
}

function judgeAccount(
  snapshot: PolicySnapshot,
  what: Haltable,
  account: string,
  allowed: TradingPrincipal | undefined,
  suspended = false,
): Rejection | undefined {
  if (halted(snapshot, what, 'GLOBAL', () => true))
    return rejected('SERVICE_HALTED', 'The service is halted.');
  if (suspended || halted(snapshot, what, 'PRINCIPAL', (halt) => halt.target === account)) {
    return rejected('PRINCIPAL_SUSPENDED', 'The account is suspended.');
  }
  return allowed === undefined
    ? rejected('PRINCIPAL_NOT_ENTITLED', 'The account may not do this.')
    : undefined;
}

/** Routes are alternatives and any may be chosen, so the account must be allowed on all of them. */
function judgeRoutes(
  snapshot: PolicySnapshot,
  what: Haltable,
  principal: TradingPrincipal | undefined,
  routes: readonly RouteKey[],
): Rejection | undefined {
  const notEntitled = routes.find((route) => principal?.venues.has(route.venue) !== true);
  if (notEntitled !== undefined) {
    return rejected('PRINCIPAL_NOT_ENTITLED', `The account is not entitled to ${notEntitled.venue}.`);
  }
  if (halted(snapshot, what, 'VENUE', ({ target }) => routes.some(({ venue }) => venue === target))) {
    return rejected('VENUE_HALTED', 'A venue of the auction is halted.');
  }
  return halted(snapshot, what, 'MARKET', ({ target }) => routes.some(({ contract_id: id }) => id === target))
    ? rejected('MARKET_NOT_TRADABLE', 'A market of the auction is halted.')
    : undefined;
}

function judgeMarkets(snapshot: PolicySnapshot, routes: readonly RouteKey[]): Rejection | undefined {
  return contractsFor(snapshot, routes).every((contract) => contract?.status === 'TRADING')
    ? undefined
    : rejected('MARKET_NOT_TRADABLE', 'A market of the auction is not trading.');
}

function judgeSize(principal: TradingPrincipal | undefined, quantity: Atoms): Rejection | undefined {
  const limit = principal?.max_quantity_atoms ?? 0;
  return quantity > limit
    ? rejected('UNAUTHORIZED_SIZE', `The account may trade at most ${limit} quantity atoms at a time.`)
    : undefined;
}

function halted(
  snapshot: PolicySnapshot,
  what: Haltable,
  scope: Halt['scope'],
  hits: (halt: Halt) => boolean,
): boolean {
  return snapshot.halts.some((halt) => halt.scope === scope && halt.what.includes(what) && hits(halt));
}
