import type { JournalWriter } from '#libs/journal/journal.js';
import { repeat, type Cancel, type Clock } from '#libs/platform/time/clock.js';

const TICK_MILLIS = 200;
/** A tick may be late on a busy machine; what comes later than this may have been a standstill. */
const STANDSTILL_NANOS = 400_000_000n;
const PROOF_HOLDS_NANOS = 5_000_000_000n;
const PATIENCE_MILLIS = 2_000;
const NANOS_PER_MILLI = 1_000_000n;

export interface TenurePorts {
  readonly clock: Clock;
  readonly writer: Pick<JournalWriter, 'confirm'>;
}

/**
 * Whether this owner may still speak for its shard. One that stood still may have been replaced meanwhile and not know it: what it
 * remembers would be told as if it were the present. So it asks the journal first, and it asks too when nothing has shown for some
 * seconds that the shard is still its own. What is read may be as old as that. A refusal may not: whoever is refused for good must be
 * refused by what was so after the command came.
 */
export class Tenure {
  /** When that began which last proved it. */
  private provenAt: bigint;
  private tickedAt: bigint;
  private stoodStillUntil: bigint | undefined;
  private asking: Promise<void> | undefined;
  private cancel: Cancel | undefined;

  /** The shard has just been opened. */
  constructor(private readonly ports: TenurePorts) {
    this.provenAt = this.tickedAt = ports.clock.monotonicNanos();
  }

  start(): void {
    this.cancel = repeat(this.ports.clock, TICK_MILLIS, () => {
      this.look();
      return Promise.resolve();
    });
  }

  stop(): void {
    this.cancel?.();
  }

  /** Something that only the owner can do was begun then, and has succeeded. */
  proven(beganAt: bigint): void {
    if (beganAt > this.provenAt) this.provenAt = beganAt;
  }

  /** Asked before each answer, so that no standstill lies between. */
  get isSure(): boolean {
    const now = this.look();
    if (this.stoodStillUntil !== undefined && this.provenAt < this.stoodStillUntil) return false;
    return now - this.provenAt < PROOF_HOLDS_NANOS;
  }

  /** The same, by a proof that was begun at this moment or later. */
  isSureSince(moment: bigint): boolean {
    return this.isSure && this.provenAt >= moment;
  }

  /** False where the shard is another's, and where nobody can tell in time. */
  isProven(): Promise<boolean> {
    return this.comesTrue(() => this.isSure);
  }

  isProvenSince(moment: bigint): Promise<boolean> {
    return this.comesTrue(() => this.isSureSince(moment));
  }

  private async comesTrue(isSure: () => boolean): Promise<boolean> {
    const until = this.ports.clock.monotonicNanos() + BigInt(PATIENCE_MILLIS) * NANOS_PER_MILLI;
    while (!isSure()) {
      if (this.ports.clock.monotonicNanos() >= until) return false;
      this.asking ??= this.ask().finally(() => (this.asking = undefined));
      try {
        await this.asking;
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

  private look(): bigint {
    const now = this.ports.clock.monotonicNanos();
    if (now - this.tickedAt > STANDSTILL_NANOS) this.stoodStillUntil = now;
    this.tickedAt = now;
    return now;
  }
}

function within(clock: Clock, millis: number, work: Promise<void>): Promise<void> {
  return new Promise((resolve, reject) => {
    const cancel = clock.after(millis, () => {
      reject(new Error(`nothing was heard within ${millis} ms`));
    });
    work.then(resolve, reject).finally(cancel);
  });
}
