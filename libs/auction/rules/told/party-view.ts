import type { AuctionState } from '../state.js';
import type { Party } from '../terms.js';
import { awardOf } from './viewer.js';

/** Another party as a viewer may know it: by the name made up for this auction, or by its own. */
export type PartyView = { readonly alias: string } | { readonly id: string; readonly display_name: string };

export function originatorAsSeenBy(state: AuctionState, maker: string): PartyView {
  const policy = state.terms.identity_policy.originator;
  const won = awardOf(state, maker) !== undefined;
  return partyView(state.terms.originator, policy === 'DISCLOSED' || (policy === 'WINNER_ONLY' && won));
}

/** A winner as the originator sees it. There is none before the award, so being disclosed "after the award" is being disclosed. */
export function winnerAsSeenByOriginator(state: AuctionState, maker: string): PartyView {
  const party = state.terms.audience.find((invited) => invited.account_id === maker);
  if (party === undefined) throw new Error('an award went to a maker that was not invited');
  return partyView(party, state.terms.identity_policy.market_makers === 'DISCLOSED_AFTER_AWARD');
}

function partyView(party: Party, disclosed: boolean): PartyView {
  return disclosed ? { id: party.account_id, display_name: party.display_name } : { alias: party.alias };
}
