import type { ExecutionReport } from '#libs/auction/rules/decide/execution.js';
import type {
  AwardToSettle,
  SettlementAttempt,
  SettlementDesk,
} from '#libs/auction/settlement/settlement.js';
import type { OwnerLink } from '#libs/auction/protocol/protocol.js';
import type { ExecutionStepName } from '#libs/auction/protocol/protocol.js';
import { pause, type Clock } from '#libs/platform/time/clock.js';
import { inSpan, noTracing, type Span, type Tracing } from '#libs/platform/tracing/tracing.js';
import type { BlockedAwards } from './blocked-awards.js';

export interface CarrierPorts {
  readonly link: OwnerLink;
  readonly desk: SettlementDesk;
  readonly clock: Clock;
  readonly concurrency: number;
  readonly meter: { settled(outcome: string): void };
  readonly blocked: Pick<BlockedAwards, 'blocked' | 'failed' | 'letGo'>;
  readonly onFault: (what: string, error: unknown) => void;
  /** Each award gets a trace of its own. */
  readonly tracing?: Tracing;
}

const WAIT_MILLIS = 5_000;
/** The link's timeout must be longer than the owner's answer. */
const PATIENCE_MILLIS = WAIT_MILLIS + 4_000;
const UNREACHABLE_MILLIS = 250;
const BACK_OFF_MILLIS = 100;
const MAX_BACK_OFF_MILLIS = 2_000;

/**
 * Settles the awards of one shard in the ledger and reports the outcome to the owner. It keeps no state: the
 * owner repeats what is open, and the ledger settles an award once.
 */
export class AwardCarrier {
  private readonly inHand = new Map<string, Promise<void>>();
  private stopped = false;
  private readonly tracing: Tracing;

  constructor(private readonly ports: CarrierPorts) {
    this.tracing = ports.tracing ?? noTracing;
  }

  get carrying(): number {
    return this.inHand.size;
  }

  start(): void {
    void this.run();
  }

  /** Finishes and reports the settlements under way, and begins none. */
  async stop(): Promise<void> {
    this.stopped = true;
    await Promise.race([Promise.all(this.inHand.values()), pause(this.ports.clock, 1_000)]);
  }

  private async run(): Promise<void> {
    while (!this.stopped) {
      const room = this.ports.concurrency - this.inHand.size;
      if (room <= 0) {
        await Promise.race(this.inHand.values());
        continue;
      }
      const awards = await this.ask();
      if (awards === undefined) await pause(this.ports.clock, UNREACHABLE_MILLIS);
      for (const award of awards?.slice(0, room) ?? []) this.take(award);
    }
  }

  private async ask(): Promise<AwardToSettle[] | undefined> {
    try {
      const known = [...this.inHand.keys()];
      const reply = await this.ports.link.request(
        { op: 'pending_awards', known, wait_ms: WAIT_MILLIS },
        PATIENCE_MILLIS,
      );
      return reply.status === 200 ? (JSON.parse(reply.body) as AwardToSettle[]) : undefined;
    } catch {
      return undefined;
    }
  }

  private take(award: AwardToSettle): void {
    const span = this.tracing.root('settle award', 'internal');
    const carried = (span === undefined ? this.carryOn(award) : this.traced(span, award)).finally(() => {
      this.inHand.delete(award.award_id);
      this.ports.blocked.letGo(award.award_id);
    });
    this.inHand.set(award.award_id, carried);
  }

  private traced(span: Span, award: AwardToSettle): Promise<void> {
    return inSpan(span, () => this.tracing.within(span, () => this.carryOn(award)));
  }

  private async carryOn(award: AwardToSettle): Promise<void> {
    try {
      await this.carry(award);
    } catch (error) {
      this.ports.onFault('settlement', error);
      await pause(this.ports.clock, BACK_OFF_MILLIS);
    }
  }

  private async carry(award: AwardToSettle): Promise<void> {
    if (award.attempts === 0) await this.report(award, 'SUBMITTED', 1);
    for (let attempt = Math.max(1, award.attempts); !this.stopped; attempt += 1) {
      const result = await this.settle(award, attempt);
      this.ports.meter.settled(result.outcome);
      if (result.outcome === 'SETTLED') {
        await this.report(award, 'CONFIRMED', attempt, { settlement: result.settlement });
        return;
      }
      if (result.outcome === 'FAILED') {
        this.ports.blocked.failed(award, result.reason);
        await this.report(award, 'FAILED', attempt, { reason: result.reason });
        return;
      }
      this.ports.blocked.blocked(award, result.reason);
      const known = await this.report(award, 'RETRYING', attempt + 1, { reason: result.reason });
      if (!known) {
        await this.tellEnd(award);
        return;
      }
      await pause(this.ports.clock, Math.min(BACK_OFF_MILLIS * 2 ** attempt, MAX_BACK_OFF_MILLIS));
    }
  }

  /** The owner gave up the award in the meantime, and no other log reports it. */
  private async tellEnd(award: AwardToSettle): Promise<void> {
    const stands = await this.ports.desk.outcomeOf(award.award_id);
    if (stands?.outcome === 'FAILED') this.ports.blocked.failed(award, stands.reason);
  }

  private settle(award: AwardToSettle, attempt: number): Promise<SettlementAttempt> {
    const span = this.tracing.child('ledger', 'internal');
    const settle = (): Promise<SettlementAttempt> => this.ports.desk.settle(award);
    if (span === undefined) return settle();
    return inSpan(span, settle, { done: ({ outcome }) => ({ attempt, outcome }) });
  }

  /** False if the owner no longer has the award: it ended the auction itself. */
  private async report(
    award: AwardToSettle,
    step: ExecutionStepName,
    attempt: number,
    more: Pick<ExecutionReport, 'reason' | 'settlement'> = {},
  ): Promise<boolean> {
    const reply = await this.ports.link.request({
      op: 'execution_report',
      auction_id: award.auction_id,
      award_id: award.award_id,
      step,
      attempt,
      ...more,
    });
    if (reply.status !== 200 && reply.status !== 404) throw new Error(`report refused with ${reply.status}`);
    return reply.status === 200;
  }
}
