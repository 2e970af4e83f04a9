import type { Duplex } from 'node:stream';

/**
 * Combines replies that are ready at the same time into one write for each socket. A write is most of the cost of a reply,
 * and one frame of an owner often contains many replies.
 */
export class Departures {
  private corked: Duplex[] = [];

  /** Corks the wire: data written in this turn of the event loop and in its microtasks is sent together. */
  gather(wire: Duplex): void {
    if (wire.writableCorked > 0) return;
    wire.cork();
    if (this.corked.push(wire) === 1) process.nextTick(this.uncorkAll);
  }

  private readonly uncorkAll = (): void => {
    const corked = this.corked;
    this.corked = [];
    for (const wire of corked) wire.uncork();
  };
}
