import type { Duplex } from 'node:stream';

/**
 * Replies that are ready at the same time leave each socket in one write, because a write is most of the cost of a reply. One
 * frame of an owner often brings many.
 */
export class Departures {
  private waiting: Duplex[] = [];

  /** Corks the wire: everything written to it in this turn, and in the microtasks that follow, leaves together. */
  gather(wire: Duplex): void {
    if (wire.writableCorked > 0) return;
    wire.cork();
    if (this.waiting.push(wire) === 1) process.nextTick(this.leave);
  }

  private readonly leave = (): void => {
    const leaving = this.waiting;
    this.waiting = [];
    for (const wire of leaving) wire.uncork();
  };
}
