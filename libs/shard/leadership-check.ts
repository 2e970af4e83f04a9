import { NANOS_PER_MILLI } from '#libs/base/instant.js';
import type { JournalWriter } from '#libs/journal/journal.js';
import { repeat, type Cancel, type Clock } from '#libs/platform/time/clock.js';

const TICK_MILLIS = 200;
/** On a busy machine a tick may be late; one that is later than this may mean that the process stood still. */
const STANDSTILL_NANOS = 400_000_000n;
const PROOF_HOLDS_NANOS = 5_000_000_000n;
const PATIENCE_MILLIS = 2_000;

export interface LeadershipPorts {
  readonly clock: Clock;
  readonly writer: Pick<JournalWriter, 'confirm'>;
}

/**
 * Whether this process still owns its shard. After a standstill, or some seconds without proof, it asks the journal before it
 * answers, because another process may own the shard. So reads may be a few seconds old. Final refusals may not: they need a
 * proof that began after the command came.
 */
export class LeadershipCheck {
  /** When the last successful proof began. */
  private provenAt: bigint;
  private tickedAt: bigint;
  private stoodStillUntil: bigint | undefined;
  private proofInFlight: Promise<void> | undefined;
  private cancel: Cancel | undefined;

  /** Opening the shard counts as a proof. */
  constructor(private readonly ports: LeadershipPorts) {
    this.provenAt = this.tickedAt = ports.clock.monotonicNanos();
  }

  start(): void {
    this.cancel = repeat(this.ports.clock, TICK_MILLIS, () => {
      this.noteTick();
      return Promise.resolve();
    });
  }

  stop(): void {
    this.cancel?.();
  }

  /** Notes a proof: the owner has just done something that only the owner can do. It began at that moment. */
  proven(beganAt: bigint): void {
    if (beganAt > this.provenAt) this.provenAt = beganAt;
  }

  /** Checked directly before each answer, so that no standstill can come in between. */
  get isSure(): boolean {
    const now = this.noteTick();
    if (this.stoodStillUntil !== undefined && this.provenAt < this.stoodStillUntil) return false;
    return now - this.provenAt < PROOF_HOLDS_NANOS;
  }

  /** The same, with a proof that began at this moment or later. */
  isSureSince(moment: bigint): boolean {
    return this.isSure && this.provenAt >= moment;
  }

  /** False if another process owns the shard, or if the journal does not answer in time. */
  isProven(): Promise<boolean> {
    return this.waitUntil(() => this.isSure);
  }

  isProvenSince(moment: bigint): Promise<boolean> {
    return this.waitUntil(() => this.isSureSince(moment));
  }

  private async waitUntil(isSure: () => boolean): Promise<boolean> {
    const until = this.ports.clock.monotonicNanos() + BigInt(PATIENCE_MILLIS) * NANOS_PER_MILLI;
    while (!isSure()) {
      if (this.ports.clock.monotonicNanos() >= until) return false;
      this.proofInFlight ??= this.ask().finally(() => (this.proofInFlight = undefined));
      try {
        await this.proofInFlight;
      } catch {
        return false;
      }
    }
    return true;
  }

  private async ask(): Promise<void> {
    const { clock, writer } = this.ports;
    const beganAt = clock.monotonicNanos();
    await within(clock, PATIENCE_MILLIS, writer.confirm());
    this.proven(beganAt);
  }

  private noteTick(): bigint {
    const now = this.ports.clock.monotonicNanos();
    if (now - this.tickedAt > STANDSTILL_NANOS) this.stoodStillUntil = now;
    this.tickedAt = now;
    return now;
  }
}

function within(clock: Clock, millis: number, work: Promise<void>): Promise<void> {
  return new Promise((resolve, reject) => {
    const cancel = clock.after(millis, () => {
      reject(new Error(`no answer within ${millis} ms`));
    });
    work.then(resolve, reject).finally(cancel);
  });
}
