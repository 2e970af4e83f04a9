import type { AudienceRequest, ResolvedAudience } from '../../rules/commands.js';
import { rejected, type Rejection } from '#libs/base/rejection.js';
import type { PolicySnapshot, TradingPrincipal, RouteKey } from './policy-snapshot.js';

export const MAX_AUDIENCE = 64;

/**
 * The invited makers. An unknown id or group refuses the request, because the originator made a mistake. Ineligible
 * makers (suspended, not entitled, same house) are left out silently: the originator must not learn why.
 */
export function resolveAudience(
  snapshot: PolicySnapshot,
  originator: string,
  request: AudienceRequest,
  routes: readonly RouteKey[],
  alias: (accountId: string) => string,
): ResolvedAudience {
  const requested = membersAsked(snapshot, originator, request);
  if (!(requested instanceof Set)) return requested;
  const excluded = new Set(request.exclude_market_maker_ids);
  const unknown = firstUnknownMaker(snapshot, [...requested, ...excluded]);
  if (unknown !== undefined) {
    return rejected('AUDIENCE_MEMBER_UNKNOWN', `Account ${unknown} is no market maker.`);
  }
  const candidates = request.all_eligible === true ? snapshot.principals.keys() : requested;
  const invited = eligibleOf(snapshot, originator, candidates, routes).filter(
    (maker) => !excluded.has(maker.account_id),
  );
  if (invited.length === 0) return rejected('AUDIENCE_EMPTY', 'No eligible market maker remains.');
  if (invited.length > MAX_AUDIENCE) {
    return rejected('AUDIENCE_TOO_LARGE', `${invited.length} market makers are more than ${MAX_AUDIENCE}.`);
  }
  return { ok: true, makers: invited.map((maker) => asParty(maker, alias)) };
}

function asParty({ account_id, display_name }: TradingPrincipal, alias: (accountId: string) => string) {
  return { account_id, display_name, alias: alias(account_id) };
}

/** Ids listed directly and through groups. Another originator's group is treated as unknown. */
function membersAsked(
  snapshot: PolicySnapshot,
  originator: string,
  request: AudienceRequest,
): Set<string> | Rejection {
  const requested = new Set(request.market_maker_ids);
  for (const groupId of request.group_ids ?? []) {
    const group = snapshot.groups.get(groupId);
    if (group?.owner !== originator) return rejected('GROUP_UNKNOWN', `There is no group ${groupId}.`);
    for (const member of group.market_maker_ids) requested.add(member);
  }
  return requested;
}

function firstUnknownMaker(snapshot: PolicySnapshot, ids: readonly string[]): string | undefined {
  return ids.find((id) => snapshot.principals.get(id)?.is_maker !== true);
}

/** Sorted by account id, so that the same policy always gives the same audience. */
function eligibleOf(
  snapshot: PolicySnapshot,
  originator: string,
  candidates: Iterable<string>,
  routes: readonly RouteKey[],
): TradingPrincipal[] {
  const ownGroup = snapshot.principals.get(originator)?.control_group;
  const eligible: TradingPrincipal[] = [];
  for (const id of candidates) {
    const maker = snapshot.principals.get(id);
    if (maker === undefined || id === originator || !isEligible(maker, routes)) continue;
    if (ownGroup !== undefined && maker.control_group === ownGroup) continue;
    eligible.push(maker);
  }
  return eligible.sort((a, b) => (a.account_id < b.account_id ? -1 : 1));
}

function isEligible(maker: TradingPrincipal, routes: readonly RouteKey[]): boolean {
  return maker.is_maker && !maker.suspended && routes.every((route) => maker.venues.has(route.venue));
}
