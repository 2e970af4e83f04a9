import type { AuctionEvent, AwardSettlement } from '../../rules/events.js';
import type { AuctionState } from '../../rules/state.js';
import type { AwardToSettle } from '../../settlement/settlement.js';
import { awardToSettle } from '../../shard/pending-awards.js';

/** How an award ended, and which record says so. */
export type JournaledEnd = { readonly shard: number; readonly sequence: number } & (
  | {
      readonly outcome: 'SETTLED';
      readonly award: AwardToSettle;
      /** The settlement in the record. A record that an owner has written always has one. */
      readonly told: AwardSettlement | undefined;
    }
  | { readonly outcome: 'FAILED'; readonly award_id: string; readonly reason: string | undefined }
);

export function awardIn(end: JournaledEnd): string {
  return end.outcome === 'SETTLED' ? end.award.award_id : end.award_id;
}

/** Undefined if the event ends no award. */
export function endBy(
  shard: number,
  sequence: number,
  event: AuctionEvent,
  after: AuctionState,
): JournaledEnd | undefined {
  if (event.type === 'EXECUTION_FAILED') {
    const { award_id, reason } = event.data;
    return { shard, sequence, outcome: 'FAILED', award_id, reason };
  }
  if (event.type !== 'EXECUTION_CONFIRMED') return undefined;
  const { award_id: id, settlement } = event.data;
  const found = after.awards.find((award) => award.award_id === id);
  if (found === undefined) throw new Error(`award ${id} was never made`);
  return { shard, sequence, outcome: 'SETTLED', award: awardToSettle(after, found), told: settlement };
}
