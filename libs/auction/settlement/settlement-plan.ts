import type { AwardSettlement } from '../rules/events.js';
import { assetOf } from '../rules/holds.js';
import { issueCost, owed, type Atoms } from '#libs/base/money.js';
import type { Hold, ResourceType } from '../rules/terms.js';
import { COLLATERAL, ESCROW, ISSUER, type Entry, type LedgerKey } from '#libs/ledger/ledger.js';
import type { AwardToSettle, SettlingParty } from './settlement.js';

type Route = AwardToSettle['routes'][number];
type BalanceOf = (key: LedgerKey) => Atoms;

export type SettlementPlan =
  | { readonly ok: true; readonly settlement: AwardSettlement; readonly entries: readonly Entry[] }
  | { readonly ok: false; readonly reason: string };

/** All balances of both parties from which a settlement may take, on any of the routes. */
export function balancesTouched(award: AwardToSettle): LedgerKey[] {
  return award.routes.flatMap(({ venue, ...route }) => [
    { account: award.buyer.account, venue, asset: COLLATERAL },
    { account: award.seller.account, venue, asset: COLLATERAL },
    { account: award.seller.account, venue, asset: assetOf({ venue, ...route }) },
  ]);
}

/** Chooses the first route that both parties can settle with what is reserved for this award, and no more. */
export function planSettlement(award: AwardToSettle, balanceOf: BalanceOf): SettlementPlan {
  for (const route of award.routes) {
    const shares = sharesOn(award, route, balanceOf);
    if (shares !== undefined) {
      return {
        ok: true,
        settlement: settlementBy(route, shares),
        entries: entriesFor(award, route, shares),
      };
    }
  }
  return { ok: false, reason: 'no route can be carried by what is set aside for the award' };
}

/**
 * The entries of a settlement that took place, whatever the balances were. Undefined if the award cannot have been settled so.
 */
export function entriesAsSettled(
  award: AwardToSettle,
  { venue, asset, delivered_atoms: delivered }: AwardSettlement,
): readonly Entry[] | undefined {
  const route = award.routes.find((one) => one.venue === venue && assetOf(one) === asset);
  if (route === undefined || delivered > award.quantity_atoms) return undefined;
  return entriesFor(award, route, sharesWith(award, delivered));
}

/** Whether what both parties reserved for the award covers this settlement, whatever else they had. */
export function couldSettle(
  award: AwardToSettle,
  { venue, asset, delivered_atoms: delivered }: AwardSettlement,
): boolean {
  const { payment, sellerStake } = sharesWith(award, delivered);
  return (
    delivered >= 0 &&
    delivered <= reservedBy(award.seller, 'OUTCOME_TOKEN', venue, asset) &&
    payment <= reservedBy(award.buyer, 'COLLATERAL', venue, COLLATERAL) &&
    sellerStake <= reservedBy(award.seller, 'COLLATERAL', venue, COLLATERAL)
  );
}

function settlementBy(route: Route, { delivered }: Shares): AwardSettlement {
  return { venue: route.venue, asset: assetOf(route), delivered_atoms: delivered };
}

interface Shares {
  readonly payment: Atoms;
  readonly delivered: Atoms;
  readonly issued: Atoms;
  readonly sellerStake: Atoms;
}

function sharesOn(award: AwardToSettle, route: Route, balanceOf: BalanceOf): Shares | undefined {
  const { venue } = route;
  const tokens = available(award.seller, 'OUTCOME_TOKEN', venue, assetOf(route), balanceOf);
  const shares = sharesWith(award, Math.min(award.quantity_atoms, tokens));
  const buyerFunds = available(award.buyer, 'COLLATERAL', venue, COLLATERAL, balanceOf);
  const sellerFunds = available(award.seller, 'COLLATERAL', venue, COLLATERAL, balanceOf);
  return shares.payment > buyerFunds || shares.sellerStake > sellerFunds ? undefined : shares;
}

function sharesWith(
  { price_atoms: price, quantity_atoms: quantity }: AwardToSettle,
  delivered: Atoms,
): Shares {
  const issued = quantity - delivered;
  return { payment: owed(price, quantity), delivered, issued, sellerStake: issueCost(price, issued) };
}

function available(
  party: SettlingParty,
  resource: ResourceType,
  venue: string,
  asset: string,
  balanceOf: BalanceOf,
): Atoms {
  return Math.min(
    reservedBy(party, resource, venue, asset),
    balanceOf({ account: party.account, venue, asset }),
  );
}

function reservedBy({ hold }: SettlingParty, resource: ResourceType, venue: string, asset: string): Atoms {
  return hold
    .filter((one: Hold) => one.resource === resource && one.venue === venue && one.asset === asset)
    .reduce((sum, one) => sum + one.amount, 0);
}

/**
 * The seller's tokens pass to the buyer. The rest is issued in pairs: the buyer gets the outcome, the seller its complement, and
 * both payments stay in escrow until the market resolves. The buyer never pays more than `owed` in all. Where both sides of a
 * pair were rounded up, escrow keeps the odd atom.
 */
function entriesFor(award: AwardToSettle, route: Route, shares: Shares): Entry[] {
  const { venue } = route;
  const { payment, delivered, issued, sellerStake } = shares;
  const toSeller = owed(award.price_atoms, delivered);
  const buyer = award.buyer.account;
  const seller = award.seller.account;
  const token = assetOf(route);
  const complement = assetOf({ ...route, outcome: complementOf(route.outcome) });
  const entries: Entry[] = [
    { account: buyer, venue, asset: COLLATERAL, amount: -payment },
    { account: seller, venue, asset: COLLATERAL, amount: toSeller - sellerStake },
    { account: ESCROW, venue, asset: COLLATERAL, amount: payment - toSeller + sellerStake },
    { account: buyer, venue, asset: token, amount: award.quantity_atoms },
    { account: seller, venue, asset: token, amount: -delivered },
    { account: ISSUER, venue, asset: token, amount: -issued },
    { account: seller, venue, asset: complement, amount: issued },
    { account: ISSUER, venue, asset: complement, amount: -issued },
  ];
  return entries.filter((entry) => entry.amount !== 0);
}

/** The token that pays exactly when `outcome` does not. */
export function complementOf(outcome: string): string {
  if (outcome === 'YES') return 'NO';
  if (outcome === 'NO') return 'YES';
  return outcome.startsWith('NOT ') ? outcome.slice('NOT '.length) : `NOT ${outcome}`;
}
