import { instantFromNanos, type Instant } from '#libs/base/instant.js';

/** How far the journal of a shard is durable, and the time at which the shard decides. */
export class JournalProgress {
  private newest: Instant = instantFromNanos(0n);
  private latest: Instant = this.newest;

  /** `head` is the last durable position. */
  constructor(private head: number) {}

  get durableHead(): number {
    return this.head;
  }

  /** The time of the last event in the journal. */
  get lastEventAt(): Instant {
    return this.newest;
  }

  /** Never earlier than a moment that was used before, so that the journal's times only go forward. */
  nowAt(epochNanos: bigint): Instant {
    const now = instantFromNanos(epochNanos);
    if (now > this.latest) this.latest = now;
    return this.latest;
  }

  recovered(lastEventAt: Instant | undefined): void {
    if (lastEventAt === undefined) return;
    this.newest = lastEventAt;
    this.latest = lastEventAt;
  }

  committed(head: number, events: readonly { readonly at: Instant }[]): void {
    this.head = head;
    for (const { at } of events) if (at > this.newest) this.newest = at;
  }
}
