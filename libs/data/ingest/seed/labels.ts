import { PROVIDERS, type Provider } from '../../rules/providers.js';
import type { ClaimedMarket } from './claimed-markets.js';
import { CORE_SLOTS, type ClaimSlot, differing, negated, SETTLEMENT_SLOTS } from './claims.js';

interface LabelledSide {
  readonly provider: Provider;
  readonly market_id: string;
}

/** How two markets of two venues really relate, whatever their texts say. */
export interface LabelledPair {
  readonly a: LabelledSide;
  readonly b: LabelledSide;
  /** `trap`: they look alike, but pay differently. */
  readonly label: 'identical' | 'complement' | 'trap';
  /** The slots in which they differ: in settlement, or for a trap in the claim. */
  readonly slots: readonly ClaimSlot[];
}

/** Labels all pairs of markets that can be mistaken for each other. */
export function labelledPairs(markets: readonly ClaimedMarket[]): LabelledPair[] {
  const groups = new Map<string, ClaimedMarket[]>();
  for (const market of markets) {
    const others = groups.get(market.kin);
    if (others === undefined) groups.set(market.kin, [market]);
    else others.push(market);
  }
  return [...groups.values()].flatMap((alike) =>
    alike.flatMap((left, index) => alike.slice(index + 1).flatMap((right) => pairOf(left, right) ?? [])),
  );
}

const MOST_DIFFERENT = 2;

function pairOf(left: ClaimedMarket, right: ClaimedMarket): LabelledPair | undefined {
  if (left.market.provider === right.market.provider) return undefined;
  const [first, second] = inOrder(left, right);
  const of = (label: LabelledPair['label'], slots: readonly ClaimSlot[]): LabelledPair => ({
    ...{ a: sideOf(first), b: sideOf(second), label, slots },
  });
  const settlement = differing(SETTLEMENT_SLOTS, first.terms, second.terms);
  if (first.claim === second.claim) return of('identical', settlement);
  if (first.claim === second.opposite) return of('complement', settlement);
  const turned = negated(second.terms);
  const straight = differing(CORE_SLOTS, first.terms, second.terms);
  const slots = turned === undefined ? straight : fewer(straight, differing(CORE_SLOTS, first.terms, turned));
  return slots.length > MOST_DIFFERENT ? undefined : of('trap', slots);
}

function fewer<T>(left: readonly T[], right: readonly T[]): readonly T[] {
  return right.length < left.length ? right : left;
}

function inOrder(left: ClaimedMarket, right: ClaimedMarket): readonly [ClaimedMarket, ClaimedMarket] {
  const place = ({ market }: ClaimedMarket): number => PROVIDERS.indexOf(market.provider);
  return place(left) < place(right) ? [left, right] : [right, left];
}

function sideOf({ market: { provider, market_id } }: ClaimedMarket): LabelledSide {
  return { provider, market_id };
}
