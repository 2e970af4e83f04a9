import type { AwardToSettle } from '../settlement/settlement.js';
import type { AuctionState, Award } from '../rules/state.js';
import type { Cancel, Clock } from '#libs/platform/time/clock.js';
import type { AuctionEntry } from './memory/auction-book.js';

const MAX_PAGE = 256;

/** Awards that have not ended. Settlers poll for them; nothing is pushed, so nothing is lost. */
export class PendingAwards {
  private readonly entries = new Map<string, AuctionEntry>();
  private readonly waiting = new Set<() => void>();

  constructor(private readonly clock: Clock) {}

  /** Called when the auction's durable state has changed. */
  note(entry: AuctionEntry): void {
    const pending = entry.durable === undefined ? [] : unended(entry.durable);
    if (pending.length === 0) {
      this.entries.delete(entry.id);
      return;
    }
    if (this.entries.has(entry.id)) return;
    this.entries.set(entry.id, entry);
    for (const wake of [...this.waiting]) wake();
  }

  /** Awards that are not among `known`; waits up to `waitMillis` for the first one. */
  async next(known: readonly string[], waitMillis: number): Promise<AwardToSettle[]> {
    const knownIds = new Set(known);
    const found = this.list(knownIds);
    if (found.length > 0 || waitMillis <= 0) return found;
    await this.arrival(waitMillis);
    return this.list(knownIds);
  }

  private list(knownIds: ReadonlySet<string>): AwardToSettle[] {
    const found: AwardToSettle[] = [];
    for (const { durable } of this.entries.values()) {
      if (durable === undefined) continue;
      for (const award of unended(durable)) {
        if (!knownIds.has(award.award_id)) found.push(awardToSettle(durable, award));
        if (found.length >= MAX_PAGE) return found;
      }
    }
    return found;
  }

  private arrival(waitMillis: number): Promise<void> {
    return new Promise((resolve) => {
      let cancel: Cancel = () => undefined;
      const wake = (): void => {
        cancel();
        this.waiting.delete(wake);
        resolve();
      };
      this.waiting.add(wake);
      cancel = this.clock.after(waitMillis, wake);
    });
  }
}

/** Awards that are neither confirmed nor failed. */
export function unended(state: AuctionState): Award[] {
  return state.awards.filter(
    ({ execution_status: status }) => status === 'PENDING' || status === 'SUBMITTED',
  );
}

/** Everything that the ledger needs to settle an award of this auction. */
export function awardToSettle({ terms, execution_deadline }: AuctionState, award: Award): AwardToSettle {
  if (execution_deadline === undefined)
    throw new Error(`auction ${terms.auction_id} has awards without a deadline`);
  const maker = { account: award.maker, hold: award.maker_hold };
  const originator = { account: terms.originator.account_id, hold: award.originator_hold };
  return {
    award_id: award.award_id,
    auction_id: terms.auction_id,
    attempts: award.last_attempt,
    deadline: execution_deadline,
    price_atoms: award.price_atoms,
    quantity_atoms: award.quantity_atoms,
    routes: terms.routes.map(({ venue, contract_id, outcome }) => ({ venue, contract_id, outcome })),
    buyer: terms.side === 'BUY' ? originator : maker,
    seller: terms.side === 'BUY' ? maker : originator,
  };
}
