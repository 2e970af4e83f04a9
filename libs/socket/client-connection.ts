import { NANOS_PER_MILLI } from '#libs/base/instant.js';
import type { Clock } from '#libs/platform/time/clock.js';
import { type ConnectionLimits, type OverflowRecovery, SlowReader } from './slow-reader.js';
import { Outbox, type Part } from './outbox.js';
import { RequestWindow } from './request-window.js';
import { type ClientSession, SessionGuard, type SessionHolder, type Sessions } from './session-guard.js';
import { CLOSE, type StreamSocket } from './socket.js';

/** `client` also stands for a connection that was lost. */
export type EndedBy = 'gateway' | 'client';

/** How a service uses one connection. `Addressee` is one of several recipients of events, such as a subscription. */
export interface ConnectionProtocol<Addressee> extends OverflowRecovery<Addressee> {
  /** Receives the next frame, never after the end. The first frames must lead to a call of `ClientConnection.greet`. */
  receive(frame: string): void;
  /** Sends a heartbeat. Called only after the greeting. */
  beat(): void;
  /** Warns that the session ends soon. Called after the greeting, once for each session. */
  warnOfExpiry(): void;
  /** Asks the client to connect elsewhere. Called only after the greeting. */
  goAway(reason: string): void;
  /** Called once, when the connection ends. */
  end(): void;
}

/** Shared by all connections of a process. */
export interface ConnectionPorts<Holder extends SessionHolder> {
  readonly sessions: Sessions<Holder>;
  readonly clock: Clock;
  readonly limits: ConnectionLimits;
  /** `closed` is called once for each connection, as soon as nothing more is sent to it. */
  readonly meter: { closed(code: number, by: EndedBy): void };
  readonly onFault: (error: unknown) => void;
}

/** The session under which a connection was opened. */
export interface ClientCredentials<Holder extends SessionHolder> {
  readonly token: string;
  readonly session: ClientSession<Holder>;
}

/** One client from the handshake to the end: its session, its heartbeats and its greeting. */
export class ClientConnection<Holder extends SessionHolder, Addressee> {
  readonly outbox: Outbox<Addressee>;
  readonly requests: RequestWindow;
  readonly guard: SessionGuard<Holder>;
  private readonly protocol: ConnectionProtocol<Addressee>;
  private phase: 'OPENED' | 'GREETING' | 'GREETED' = 'OPENED';
  private ended = false;
  private lastHeardAt: bigint;
  private lastBeatAt: bigint;
  private openedAt: bigint;

  constructor(
    private readonly ports: ConnectionPorts<Holder>,
    private readonly socket: StreamSocket,
    { token, session }: ClientCredentials<Holder>,
    openProtocol: (connection: ClientConnection<Holder, Addressee>) => ConnectionProtocol<Addressee>,
  ) {
    const { clock, limits, sessions } = ports;
    this.outbox = new Outbox(
      socket,
      limits,
      () => {
        slowReader.overflowed();
      },
      (error) => {
        this.fail(error);
      },
    );
    this.guard = new SessionGuard(sessions, clock, token, session);
    this.requests = new RequestWindow(socket, limits.requestsInFlight, (frame) => {
      if (!this.ended) this.protocol.receive(frame);
    });
    this.openedAt = clock.monotonicNanos();
    this.lastHeardAt = this.openedAt;
    this.lastBeatAt = this.openedAt;
    this.protocol = openProtocol(this);
    const slowReader = new SlowReader({
      outbox: this.outbox,
      recovery: this.protocol,
      clock,
      limits,
      close: (code, reason) => {
        this.close(code, reason);
      },
    });
  }

  get account(): string {
    return this.guard.principal.account_id;
  }

  get isEnded(): boolean {
    return this.ended;
  }

  onText(frame: string): void {
    if (this.ended) return;
    this.onAlive();
    this.requests.receive(frame);
  }

  onBinary(): void {
    this.close(CLOSE.badMessage, 'text frames only');
  }

  onAlive(): void {
    this.lastHeardAt = this.ports.clock.monotonicNanos();
  }

  /** This process was suspended for `nanos`. Frames that arrived meanwhile are still unread, so the client is not late. */
  onStandstill(nanos: bigint): void {
    this.lastHeardAt += nanos;
    this.openedAt += nanos;
  }

  /** The socket was closed by either side. Ends the connection without waiting for its last packets. */
  onClosed(code: number): void {
    if (!this.ended) this.finish(code, 'client');
  }

  /** Called several times a second. */
  tick(): void {
    if (this.ended) return;
    const now = this.ports.clock.monotonicNanos();
    const state = this.guard.poll();
    // Nothing is sent while it is unknown whether the session is still valid.
    this.outbox.hold(state === 'unavailable');
    if (!this.requests.isReading) this.lastHeardAt = now;
    const { helloMillis, heartbeatMillis, silentHeartbeats } = this.ports.limits;
    if (state === 'unauthorized') this.expire();
    else if (state === 'forbidden') this.forbid();
    else if (isPast(this.lastHeardAt, heartbeatMillis * silentHeartbeats, now)) {
      this.close(CLOSE.heartbeat, 'nothing heard');
    } else if (this.phase === 'GREETED') this.tickGreeted(now);
    else if (this.phase === 'OPENED' && isPast(this.openedAt, helloMillis, now)) {
      this.close(CLOSE.badMessage, 'hello expected');
    }
  }

  /**
   * Greets the client once `prepared` resolves and the session is valid. Handles no frame until then. If `prepared` resolves
   * to undefined, this process cannot serve the client.
   */
  greet<Prepared extends object>(
    prepared: Promise<Prepared | undefined>,
    welcome: (prepared: Prepared) => void,
  ): void {
    this.phase = 'GREETING';
    this.requests.hold(true);
    Promise.all([prepared, this.guard.check()])
      .then(([found, state]) => {
        if (this.ended) return;
        // While the session's validity is unknown, its end may be unknown too: the welcome waits for both.
        if (state === 'unavailable') this.outbox.hold(true);
        if (state === 'unauthorized') this.expire();
        else if (state === 'forbidden') this.forbid();
        else if (found === undefined) this.close(CLOSE.draining, 'this gateway lags');
        else {
          this.phase = 'GREETED';
          this.lastBeatAt = this.ports.clock.monotonicNanos();
          welcome(found);
          this.requests.hold(false);
        }
      })
      .catch((error: unknown) => {
        this.fail(error);
      });
  }

  /** Sends a reply or another part that must not be dropped. */
  send(part: Part): void {
    this.outbox.send(part);
  }

  /** Asks the client to connect elsewhere. Its requests are still answered. */
  goAway(reason: string): void {
    if (this.phase === 'GREETED') this.protocol.goAway(reason);
  }

  /** Answers the requests received so far, reads no more, and closes. */
  async drain(code: number, reason: string): Promise<void> {
    await this.requests.close();
    this.close(code, reason);
  }

  close(code: number, reason: string): void {
    if (this.ended) return;
    this.finish(code, 'gateway');
    this.socket.close(code, reason);
  }

  /** Terminates a client that has not answered the close frame. */
  cut(): void {
    this.socket.cut();
  }

  expire(): void {
    this.close(CLOSE.unauthorized, 'the session has ended');
  }

  /** The session is valid, but no longer for this connection. */
  forbid(): void {
    this.close(CLOSE.forbidden, 'not allowed any more');
  }

  /** Closes after a fault. The client can resume at this process or at another. */
  fail(error: unknown): void {
    this.ports.onFault(error);
    this.close(CLOSE.draining, 'cannot go on here');
  }

  private tickGreeted(now: bigint): void {
    const { expiryNoticeMillis, heartbeatMillis } = this.ports.limits;
    if (this.guard.isEnding(expiryNoticeMillis)) this.protocol.warnOfExpiry();
    if (!isPast(this.lastBeatAt, heartbeatMillis, now)) return;
    this.lastBeatAt = now;
    this.protocol.beat();
    this.socket.ping();
  }

  private finish(code: number, by: EndedBy): void {
    this.ended = true;
    this.outbox.end();
    this.ports.meter.closed(code, by);
    this.requests.end();
    this.protocol.end();
  }
}

function isPast(since: bigint, millis: number, now: bigint): boolean {
  return now - since >= BigInt(millis) * NANOS_PER_MILLI;
}
