import { averagePrice, type Atoms } from '#libs/base/money.js';
import { winnerAsSeenByOriginator, type PartyView } from './party-view.js';
import type { AuctionState, ExecutionStatus } from '../state.js';
import { awardOf } from './viewer.js';

/** Its own award as a maker sees it. */
export interface OwnAwardView {
  readonly award_id: string;
  readonly price_atoms: Atoms;
  readonly quantity_atoms: Atoms;
  readonly execution_status: ExecutionStatus;
}

/** All awards as the originator sees them, in the order of their rank. */
export interface AwardView {
  readonly quantity_atoms: Atoms;
  readonly average_price_atoms: Atoms;
  readonly awards: readonly AwardRow[];
}

export interface AwardRow {
  readonly award_id: string;
  readonly market_maker: PartyView;
  readonly price_atoms: Atoms;
  readonly quantity_atoms: Atoms;
  readonly execution_status: ExecutionStatus;
}

export function ownAwardView(state: AuctionState, maker: string): OwnAwardView | undefined {
  const award = awardOf(state, maker);
  if (award === undefined) return undefined;
  const { award_id, price_atoms, quantity_atoms, execution_status } = award;
  return { award_id, price_atoms, quantity_atoms, execution_status };
}

export function awardView(state: AuctionState): AwardView | undefined {
  if (state.awards.length === 0) return undefined;
  const fills = state.awards.map((award) => ({ price: award.price_atoms, quantity: award.quantity_atoms }));
  return {
    quantity_atoms: fills.reduce((sum, fill) => sum + fill.quantity, 0),
    average_price_atoms: averagePrice(fills),
    awards: state.awards.map((award) => ({
      award_id: award.award_id,
      market_maker: winnerAsSeenByOriginator(state, award.maker),
      price_atoms: award.price_atoms,
      quantity_atoms: award.quantity_atoms,
      execution_status: award.execution_status,
    })),
  };
}
