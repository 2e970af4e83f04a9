import type { Clock } from '#libs/platform/time/clock.js';
import type { StreamLimits } from '#libs/socket/limits.js';
import { CLOSE } from '#libs/socket/socket.js';
import type { SubscriptionBook } from '../subscriptions/subscription-book.js';
import type { Line } from '#libs/socket/line.js';

const NANOS_PER_MILLI = 1_000_000n;

/** What becomes of a reader for whom too much is waiting: it is told the present instead, once in a while and if that says it all, or has to go. */
export class SlowReader {
  private overflowAt: bigint | undefined;
  private isMakingGood = false;

  constructor(
    private readonly line: Line,
    private readonly clock: Clock,
    private readonly limits: Pick<StreamLimits, 'overflowMillis'>,
  ) {}

  overflowed(book: SubscriptionBook | undefined): void {
    const { outbox } = this.line;
    const dropped = outbox.drop();
    if (outbox.isOverfull || this.isMakingGood || this.isSoon()) {
      this.line.close(CLOSE.slowReader, 'too slow');
      return;
    }
    // What has ended stands in no snapshot. Whoever goes on with its latest token is told it.
    if (book?.wouldLose(dropped.auctions) === true) {
      this.line.close(outbox.isHeld ? CLOSE.draining : CLOSE.slowReader, 'too much waits');
      return;
    }
    // It is not the reader's fault when nothing is let out to it.
    if (!outbox.isHeld) this.overflowAt = this.clock.monotonicNanos();
    this.isMakingGood = true;
    book?.makeGood(dropped.events);
    this.isMakingGood = false;
  }

  private isSoon(): boolean {
    if (this.overflowAt === undefined || this.line.outbox.isHeld) return false;
    return (
      this.clock.monotonicNanos() - this.overflowAt < BigInt(this.limits.overflowMillis) * NANOS_PER_MILLI
    );
  }
}
