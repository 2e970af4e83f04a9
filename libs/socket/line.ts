import { Outbox, type OutboxLimits, type Part } from './outbox.js';
import type { EndedBy } from '#libs/auction/stream/ports.js';
import type { StreamSocket } from './socket.js';
import type { Subscription } from '#libs/auction/stream/subscriptions/subscription.js';

export interface LinePorts {
  readonly limits: OutboxLimits;
  readonly onOverflow: () => void;
  readonly onFault: (error: unknown) => void;
  /** Once, whoever has ended it and why: not when the last packet has gone, which may be long after. */
  readonly onEnd: (code: number, by: EndedBy) => void;
}

/** The way to one client, until either side ends it. */
export class Line {
  readonly outbox: Outbox<Subscription>;
  private ended = false;

  constructor(
    private readonly socket: StreamSocket,
    private readonly ports: LinePorts,
  ) {
    this.outbox = new Outbox(socket, ports.limits, ports.onOverflow, ports.onFault);
  }

  get isEnded(): boolean {
    return this.ended;
  }

  /** An answer, or anything else that must not get lost. */
  say(part: Part): void {
    this.outbox.say(part);
  }

  close(code: number, reason: string): void {
    if (this.ended) return;
    this.finish(code, 'gateway');
    this.socket.close(code, reason);
  }

  /** Also when the socket is gone already: whatever is to happen then need not wait for the last of its packets. */
  end(code: number): void {
    if (!this.ended) this.finish(code, 'client');
  }

  private finish(code: number, by: EndedBy): void {
    this.ended = true;
    this.outbox.end();
    this.ports.onEnd(code, by);
  }
}
