import type { AuctionEvent } from '../../rules/events.js';
import type { AuctionState } from '../../rules/state.js';
import type { FailedAward, SettledAward } from '../../settlement/journaled-settlements.js';
import type { AwardToSettle } from '../../settlement/settlement.js';
import { awardIn, endBy, type JournaledEnd } from '../ledger/journaled-end.js';

/** What is to be done to a ledger, so that it is as far as the journals. */
export interface Lack {
  readonly settled: readonly SettledAward[];
  readonly failed: readonly FailedAward[];
  /** Settled, and no owner has written the record that says so: it does not say by which route. */
  readonly unsaid: readonly AwardToSettle[];
}

/**
 * How the awards of one shard ended behind the last record that a backup knew. An award is on the ledger before its end is journaled, so a
 * ledger as old as the backup lacks none but these; of these it may have some, for what knows of records is told of them a little later.
 */
export class EndsBehind {
  readonly all: JournaledEnd[] = [];
  /** Who trades, as far as the journal names them. */
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

/** Without those of `onLedger`, whatever stands there for them. */
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
