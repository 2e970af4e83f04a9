import type { PolicyWatch } from '../admission/policy/policy-watch.js';
import { decideClose } from '../rules/decide/close.js';
import type { AwardTerms } from '../rules/events.js';
import type { Instant } from '#libs/base/instant.js';
import { owed } from '#libs/base/money.js';
import type { AuctionState } from '../rules/state.js';
import { nextTurn, pause, type Clock } from '#libs/platform/time/clock.js';
import type { IdFactory } from './ids.js';
import type { CountedAward } from '../admission/policy/maker-protection.js';
import type { ProtectionDesk } from './ports.js';

/** How long an outcome waits for its awards to be counted. */
const PATIENCE_MILLIS = 500;
const RETRY_MILLIS = 100;

export interface AwardCountPorts {
  readonly clock: Clock;
  readonly ids: Pick<IdFactory, 'award'>;
  readonly protection: ProtectionDesk;
  readonly policy: Pick<PolicyWatch, 'freshen'>;
  readonly onFault: (error: unknown) => void;
}

/**
 * Counts awards against their makers' protection before the outcome is visible, so that a freeze is in force by then. If the
 * store does not answer, the outcome is delayed only briefly. Until the count succeeds, the winners cannot quote here.
 */
export class AwardCount {
  /** Outcomes of one turn of the event loop are counted together. */
  private gathering: { readonly awards: CountedAward[]; readonly counted: Promise<void> } | undefined;
  /** Number of counts still owed, by maker. */
  private readonly doubts = new Map<string, number>();
  private stopped = false;

  constructor(private readonly ports: AwardCountPorts) {}

  isInDoubt(maker: string): boolean {
    return this.doubts.has(maker);
  }

  stop(): void {
    this.stopped = true;
  }

  /**
   * Resolves when the outcome may be decided. The close is durable, so only this outcome is possible, here or in a successor. The
   * wait is the same with and without an award, so its length reveals nothing.
   */
  async beforeOutcome(state: AuctionState): Promise<void> {
    const { ids } = this.ports;
    const closing = decideClose(state, { awardId: (quoteId) => ids.award(quoteId) });
    await this.countOrOwe(
      closing.flatMap(({ at, body }) =>
        body.type === 'AUCTION_AWARDED' ? body.data.awards.map((award) => countedOf(award, at)) : [],
      ),
    );
  }

  /** The process before this one may have owed counts, and no record says which. All are counted again. */
  async recover(entries: Iterable<{ readonly head: AuctionState }>): Promise<void> {
    const awards: CountedAward[] = [];
    for (const { head } of entries) {
      for (const award of head.awards) awards.push(countedOf(award, head.terms.closes_at));
    }
    if (awards.length > 0) await this.countOrOwe(awards);
  }

  private async countOrOwe(awards: readonly CountedAward[]): Promise<void> {
    const counted = this.countTogether(awards).then(() => true);
    const waited = pause(this.ports.clock, PATIENCE_MILLIS);
    const inTime = await Promise.race([counted, waited]).catch(() => undefined);
    if (inTime !== true) this.owe(awards);
  }

  private countTogether(awards: readonly CountedAward[]): Promise<void> {
    if (this.gathering === undefined) {
      const gathered: CountedAward[] = [];
      const counted = nextTurn().then(() => {
        this.gathering = undefined;
        return this.count(gathered);
      });
      this.gathering = { awards: gathered, counted };
    }
    this.gathering.awards.push(...awards);
    return this.gathering.counted;
  }

  private async count(awards: readonly CountedAward[], isRepeat = false): Promise<void> {
    const tripped = await this.ports.protection.record(awards);
    // This shard judges by its own copy of the policy, and withdraws active quotes when that changes. A repeated count does not
    // return a limit that the first one tripped.
    if (tripped.length > 0 || isRepeat) await this.ports.policy.freshen();
  }

  private owe(awards: readonly CountedAward[]): void {
    for (const maker of new Set(awards.map((award) => award.maker))) {
      this.doubts.set(maker, (this.doubts.get(maker) ?? 0) + 1);
      void this.retryCount(
        maker,
        awards.filter((award) => award.maker === maker),
      );
    }
  }

  /** Retries each maker separately, so that a delayed count keeps no other maker in doubt. */
  private async retryCount(maker: string, awards: readonly CountedAward[]): Promise<void> {
    while (!this.stopped) {
      try {
        await this.count(awards, true);
        break;
      } catch (error) {
        this.ports.onFault(error);
        await pause(this.ports.clock, RETRY_MILLIS);
      }
    }
    const owed = (this.doubts.get(maker) ?? 1) - 1;
    if (owed === 0) this.doubts.delete(maker);
    else this.doubts.set(maker, owed);
  }
}

function countedOf(award: AwardTerms, at: Instant): CountedAward {
  return {
    award_id: award.award_id,
    maker: award.maker,
    notional_atoms: owed(award.price_atoms, award.quantity_atoms),
    awarded_at: at,
  };
}
