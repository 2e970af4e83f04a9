import { NANOS_PER_MILLI } from '#libs/base/instant.js';
import type { Clock } from '#libs/platform/time/clock.js';
import type { Outbox } from './outbox.js';
import { CLOSE } from './socket.js';

/** How the protocol of a service makes up for messages that were dropped. */
export interface OverflowRecovery<Addressee> {
  /** True if the present state cannot replace dropped events about these subjects. */
  wouldLose(subjects: ReadonlySet<string>): boolean;
  /** Sends the present state in place of the dropped events, which `dropped` counts by addressee. */
  sendStateInstead(dropped: ReadonlyMap<Addressee, number>): void;
}

export interface SlowReaderPorts<Addressee> {
  readonly outbox: Outbox<Addressee>;
  readonly recovery: OverflowRecovery<Addressee>;
  readonly clock: Clock;
  readonly limits: Pick<ConnectionLimits, 'overflowMillis'>;
  readonly close: (code: number, reason: string) => void;
}

/** Sends a slow reader the present state instead of events. Closes its connection if that loses something or repeats too soon. */
export class SlowReader<Addressee> {
  private overflowAt: bigint | undefined;
  private isRecovering = false;

  constructor(private readonly ports: SlowReaderPorts<Addressee>) {}

  overflowed(): void {
    const { outbox, recovery, clock, close } = this.ports;
    const dropped = outbox.drop();
    if (outbox.isOverfull || this.isRecovering || this.isTooSoon()) {
      close(CLOSE.slowReader, 'too slow');
      return;
    }
    // Snapshots lack whatever has ended. A client that resumes with its latest token gets it.
    if (recovery.wouldLose(dropped.subjects)) {
      close(outbox.isHeld ? CLOSE.draining : CLOSE.slowReader, 'too much waits');
      return;
    }
    // The reader is not at fault if the outbox sends nothing.
    if (!outbox.isHeld) this.overflowAt = clock.monotonicNanos();
    this.isRecovering = true;
    recovery.sendStateInstead(dropped.events);
    this.isRecovering = false;
  }

  private isTooSoon(): boolean {
    const { outbox, clock, limits } = this.ports;
    if (this.overflowAt === undefined || outbox.isHeld) return false;
    return clock.monotonicNanos() - this.overflowAt < BigInt(limits.overflowMillis) * NANOS_PER_MILLI;
  }
}

/** Limits of one connection, the same for every protocol. */
export interface ConnectionLimits {
  readonly helloMillis: number;
  readonly heartbeatMillis: number;
  /** Heartbeat intervals without anything from the client, after which it is closed. */
  readonly silentHeartbeats: number;
  /** Bounds on what waits for a reader. */
  readonly bufferedMessages: number;
  readonly bufferedBytes: number;
  /** A second overflow within this time ends the connection. */
  readonly overflowMillis: number;
  /** Unanswered requests at which reading stops. */
  readonly requestsInFlight: number;
  /** How long before the end of its session a client is warned. */
  readonly expiryNoticeMillis: number;
}

export const CONNECTION_LIMITS: ConnectionLimits = {
  helloMillis: 10_000,
  heartbeatMillis: 10_000,
  silentHeartbeats: 3,
  bufferedMessages: 4_096,
  bufferedBytes: 8 * 1024 * 1024,
  overflowMillis: 10_000,
  requestsInFlight: 256,
  expiryNoticeMillis: 60_000,
};
