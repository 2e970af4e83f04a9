import type { AuctionEvent, AwardSettlement } from '#libs/auction/events.js';
import type { AuctionState } from '#libs/auction/state.js';
import type { FailedAward, SettledAward } from '#libs/custody/journaled-settlements.js';
import { possibleSettlements } from '#libs/custody/settlement-plan.js';
import type { AwardToSettle } from '#libs/custody/settlement.js';
import { awardIn, endBy, type JournaledEnd } from '../ledger/journaled-end.js';

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
  const settled: SettledAward[] = [];
  const undecided: UndecidedAward[] = [];
  let inferred = 0;
  const failed: FailedAward[] = [];
  for (const end of ends.flatMap(({ all }) => all).filter((one) => !onLedger.has(awardIn(one)))) {
    if (end.outcome === 'FAILED') {
      failed.push({ award_id: end.award_id, reason: end.reason ?? 'EXECUTION_DEADLINE_PASSED' });
      continue;
    }
    const { award, told } = end;
    const possible = told === undefined ? possibleSettlements(award) : [told];
    const [only] = possible;
    if (only === undefined || possible.length > 1) {
      undecided.push({ award, possible });
      continue;
    }
    settled.push({ award, settlement: only });
    if (told === undefined) inferred += 1;
  }
  return { settled, inferred, failed, undecided };
}
