import type { AuctionEvent } from '../../rules/events.js';
import type { AuctionState } from '../../rules/state.js';
import type { FailedAward, SettledAward } from '../../settlement/journaled-settlements.js';
import type { AwardToSettle } from '../../settlement/settlement.js';
import { awardIn, endBy, type JournaledEnd } from '../ledger/journaled-end.js';

/** What a restored ledger lacks, compared with the journals. */
export interface Lack {
  readonly settled: readonly SettledAward[];
  readonly failed: readonly FailedAward[];
  /** Settled, but by a record without a route. No owner has written such a record. */
  readonly unsaid: readonly AwardToSettle[];
}

/**
 * The ends of awards in one shard after the last record that a backup knew. An award is in the ledger before its end is
 * journaled, so the restored ledger lacks no others. It may already have some of these, because the backup's last known record
 * lags.
 */
export class EndsBehind {
  readonly all: JournaledEnd[] = [];
  /** The accounts that trade, as far as these records name them. */
  readonly accounts = new Set<string>();

  constructor(
    private readonly shard: number,
    private readonly known: number,
  ) {}

  take(position: number, event: AuctionEvent, after: AuctionState): void {
    if (position <= this.known) return;
    if (event.type === 'AUCTION_OPENED') {
      const { originator, audience } = event.data.terms;
      for (const { account_id: account } of [originator, ...audience]) this.accounts.add(account);
    }
    const end = endBy(this.shard, position, event, after);
    if (end !== undefined) this.all.push(end);
  }
}

/** Leaves out the awards of `onLedger`, whatever their outcome is there. */
export function lackOf(ends: readonly EndsBehind[], onLedger: ReadonlySet<string>): Lack {
  const lacking = ends.flatMap(({ all }) => all).filter((one) => !onLedger.has(awardIn(one)));
  const settled: SettledAward[] = [];
  const failed: FailedAward[] = [];
  const unsaid: AwardToSettle[] = [];
  for (const end of lacking) {
    if (end.outcome === 'FAILED')
      failed.push({ award_id: end.award_id, reason: end.reason ?? 'EXECUTION_DEADLINE_PASSED' });
    else if (end.told === undefined) unsaid.push(end.award);
    else settled.push({ award: end.award, settlement: end.told });
  }
  return { settled, failed, unsaid };
}
