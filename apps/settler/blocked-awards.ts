import { secondsOf } from '#libs/base/instant.js';
import type { AwardToSettle } from '#libs/auction/settlement/settlement.js';
import type { Clock } from '#libs/platform/time/clock.js';
import type { Logger } from '#libs/platform/process/log.js';

interface Blockage {
  readonly since: bigint;
  readonly reasons: Set<string>;
}

/**
 * Awards in hand that cannot be settled yet: since when, and why. Each reason is logged once, because an
 * award is tried dozens of times. Accounts, prices and sizes are not logged; the journal has them.
 */
export class BlockedAwards {
  private readonly blockages = new Map<string, Blockage>();

  constructor(
    private readonly clock: Clock,
    private readonly log: Pick<Logger, 'warn' | 'error'>,
  ) {}

  blocked(award: AwardToSettle, reason: string): void {
    const blockage = this.blockages.get(award.award_id) ?? {
      since: this.clock.monotonicNanos(),
      reasons: new Set(),
    };
    this.blockages.set(award.award_id, blockage);
    if (blockage.reasons.has(reason)) return;
    blockage.reasons.add(reason);
    this.log.warn(
      { ...named(award), reason },
      'an award is blocked and will be tried again until its deadline',
    );
  }

  failed(award: AwardToSettle, reason: string): void {
    const { reasons = [] } = this.blockages.get(award.award_id) ?? {};
    this.log.error(
      { ...named(award), reason, blocked_by: [...reasons] },
      'an award has failed: it was not settled by its deadline',
    );
  }

  /** The award is no longer in hand, however it ended. */
  letGo(awardId: string): void {
    this.blockages.delete(awardId);
  }

  /** How long the oldest blockage has lasted; 0 without one. */
  get oldestSeconds(): number {
    const [oldest] = this.blockages.values();
    if (oldest === undefined) return 0;
    return secondsOf(this.clock.monotonicNanos() - oldest.since);
  }
}

function named({ award_id, auction_id, routes }: AwardToSettle): object {
  return {
    award_id,
    auction_id,
    routes: routes.map(({ venue, contract_id, outcome }) => `${venue} ${contract_id} ${outcome}`),
  };
}
