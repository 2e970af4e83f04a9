import { instantFromNanos } from '#libs/auction/instant.js';
import type { Clock } from '#libs/platform/clock.js';
import { message } from '../server-messages.js';
import type { StreamSocket } from '../socket.js';
import type { SubscriptionBook } from '../subscriptions/subscription-book.js';
import type { Line } from './line.js';

/** The heartbeat: says that we are there, and how far the client has been told. */
export class Pulse {
  constructor(
    private readonly line: Line,
    private readonly book: SubscriptionBook,
    private readonly clock: Clock,
    private readonly socket: StreamSocket,
  ) {}

  /** Its token holds only as long as nothing before it is taken back, so it goes with what is. */
  beat(): void {
    const token = this.book.token();
    const time = instantFromNanos(this.clock.epochNanos());
    this.line.outbox.tellState(message('heartbeat', { server_time: time, resume_token: token }));
    this.socket.ping();
  }
}
