import type { Duplex } from 'node:stream';

/**
 * Answers that are ready at the same time leave each of the sockets in one write, for a write is most of what an answer costs. Many
 * come in one frame of an owner.
 */
export class Departures {
  private waiting: Duplex[] = [];

  /** What is written to the wire from now on leaves behind everything that follows at once from what is being dealt with. */
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
