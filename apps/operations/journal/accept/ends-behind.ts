import type { AuctionEvent, AwardSettlement } from '#libs/auction/events.js';
import type { AuctionState } from '#libs/auction/state.js';
import type { FailedAward, SettledAward } from '#libs/custody/journaled-settlements.js';
import { possibleSettlements } from '#libs/custody/settlement-plan.js';
import type { AwardToSettle } from '#libs/custody/settlement.js';
import { awardToSettle } from '#libs/engine/pending-awards.js';

interface ConfirmedAward {
  readonly award: AwardToSettle;
  /** How it was settled, as the record says; records of before this was kept do not. */
  readonly told: AwardSettlement | undefined;
}

/** An award of which the journal says that it was settled and not how, and more than one way was possible, or none. */
export interface UndecidedAward {
  readonly award: AwardToSettle;
  readonly possible: readonly AwardSettlement[];
}

/** What is to be done to a ledger, so that it is as far as the journals. */
export interface Lack {
  readonly settled: readonly SettledAward[];
  /** How many of those by the only route that was possible, since the record names none. */
  readonly inferred: number;
  readonly failed: readonly FailedAward[];
  readonly undecided: readonly UndecidedAward[];
}

/**
 * How the awards of one shard ended behind the last record that a backup knew. An award is on the ledger before its end is journaled, so a
 * ledger as old as the backup lacks none but these; of these it may have some, for what knows of records is told of them a little later.
 */
export class EndsBehind {
  readonly confirmed: ConfirmedAward[] = [];
  readonly failed: FailedAward[] = [];
  /** Who trades, as far as the journal names them. */
  readonly accounts = new Set<string>();

  constructor(private readonly known: number) {}

  take(position: number, event: AuctionEvent, after: AuctionState): void {
    if (position <= this.known) return;
    if (event.type === 'AUCTION_OPENED') {
      const { originator, audience } = event.data.terms;
      for (const { account_id: account } of [originator, ...audience]) this.accounts.add(account);
    }
    if (event.type === 'EXECUTION_FAILED') {
      const { award_id, reason } = event.data;
      this.failed.push({ award_id, reason: reason ?? 'EXECUTION_DEADLINE_PASSED' });
    }
    if (event.type === 'EXECUTION_CONFIRMED') {
      const { award_id: id, settlement: told } = event.data;
      const found = after.awards.find((award) => award.award_id === id);
      if (found === undefined) throw new Error(`award ${id} was never made`);
      this.confirmed.push({ award: awardToSettle(after, found), told });
    }
  }
}

/** Without those of `onLedger`, whatever stands there for them. */
export function lackOf(ends: readonly EndsBehind[], onLedger: ReadonlySet<string>): Lack {
  const settled: SettledAward[] = [];
  const undecided: UndecidedAward[] = [];
  let inferred = 0;
  for (const { award, told } of ends.flatMap(({ confirmed }) => confirmed)) {
    if (onLedger.has(award.award_id)) continue;
    const possible = told === undefined ? possibleSettlements(award) : [told];
    const [only] = possible;
    if (only === undefined || possible.length > 1) {
      undecided.push({ award, possible });
      continue;
    }
    settled.push({ award, settlement: only });
    if (told === undefined) inferred += 1;
  }
  const failed = ends.flatMap((each) => each.failed).filter(({ award_id: id }) => !onLedger.has(id));
  return { settled, inferred, failed, undecided };
}
