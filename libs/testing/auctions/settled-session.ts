import { evolve } from '#libs/auction/rules/evolve/evolve.js';
import { decodeEvent, isOfAuction } from '#libs/auction/rules/event-versions.js';
import type { AwardSettlement, DomainEvent } from '#libs/auction/rules/events.js';
import { assetOf } from '#libs/auction/rules/holds.js';
import type { AuctionState } from '#libs/auction/rules/state.js';
import type { FailedAward, SettledAward } from '#libs/auction/settlement/journaled-settlements.js';
import { couldSettle } from '#libs/auction/settlement/settlement-plan.js';
import type { AwardToSettle } from '#libs/auction/settlement/settlement.js';
import { awardToSettle } from '#libs/auction/shard/pending-awards.js';
import { lawfulSession, WrittenJournal } from './journaled-auctions.js';

export interface SettledSession {
  /** The session as drawn, without records of settlements: the rules leave those to settlers. */
  readonly drawn: WrittenJournal;
  readonly journal: WrittenJournal;
  readonly settled: readonly SettledAward[];
  readonly failed: readonly FailedAward[];
}

/** A lawful session in which each award is settled by the last possible route. */
export function settledSession(seed: number, auctions: number): SettledSession {
  const drawn = lawfulSession(seed, auctions);
  const journal = new WrittenJournal(drawn.shard);
  const settled: SettledAward[] = [];
  const failed: FailedAward[] = [];
  const states = new Map<string, AuctionState>();
  const withSettlement = (event: DomainEvent, position: number): DomainEvent => {
    if (!isOfAuction(event)) return event;
    const after = evolve(states.get(event.auction_id), { event, position });
    states.set(event.auction_id, after);
    if (event.type === 'EXECUTION_FAILED') failed.push({ award_id: event.data.award_id, reason: 'x' });
    if (event.type !== 'EXECUTION_CONFIRMED') return event;
    const found = after.awards.find(({ award_id: id }) => id === event.data.award_id);
    if (found === undefined) throw new Error('an award of no auction');
    const award = awardToSettle(after, found);
    const settlement = lastRouteOf(award);
    settled.push({ award, settlement });
    return { ...event, data: { ...event.data, settlement } };
  };
  for (const { kind, payload, sequence } of drawn.records)
    if (kind === 'event') journal.write(withSettlement(decodeEvent(payload), sequence));
  return { drawn, journal, settled, failed };
}

/** The last of the routes that the award's holds can carry. */
function lastRouteOf(award: AwardToSettle): AwardSettlement {
  const possible = award.routes
    .map((route) => {
      const asset = assetOf(route);
      const held = award.seller.hold.find((each) => each.venue === route.venue && each.asset === asset);
      return {
        venue: route.venue,
        asset,
        delivered_atoms: Math.min(award.quantity_atoms, held?.amount ?? 0),
      };
    })
    .filter((settlement) => couldSettle(award, settlement));
  const last = possible.at(-1);
  if (last === undefined) throw new Error(`nothing carries award ${award.award_id}`);
  return last;
}
