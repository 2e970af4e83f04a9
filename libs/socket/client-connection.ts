import { NANOS_PER_MILLI } from '#libs/base/instant.js';
import type { Clock } from '#libs/platform/time/clock.js';
import { type ConnectionLimits, type OverflowRecovery, SlowReader } from './slow-reader.js';
import { Outbox, type Part } from './outbox.js';
import { RequestWindow } from './request-window.js';
import { type ClientSession, SessionGuard, type SessionHolder, type Sessions } from './session-guard.js';
import { CLOSE, type StreamSocket } from './socket.js';

/** `client` also stands for a connection that was lost. */
export type EndedBy = 'gateway' | 'client';

/** What a service says over one connection. `Addressee` is one of several to whom events go, such as a subscription. */
export interface ConnectionProtocol<Addressee> extends OverflowRecovery<Addressee> {
  /** The next frame, in order, never after the end. The first ones have to lead to `ClientConnection.greet`. */
  receive(frame: string): void;
  /** After the greeting: a heartbeat is due. */
  beat(): void;
  /** After the greeting, once for each session: it will end soon. */
  warnOfExpiry(): void;
  /** After the greeting: asks the client to go elsewhere. */
  goAway(reason: string): void;
  /** Once, when the connection ends. */
  end(): void;
}

/** What all connections of a process share. */
export interface ConnectionPorts<Who extends SessionHolder> {
  readonly sessions: Sessions<Who>;
  readonly clock: Clock;
  readonly limits: ConnectionLimits;
  /** `closed` is called once for each connection, as soon as nothing more is sent to it. */
  readonly meter: { closed(code: number, by: EndedBy): void };
  readonly onFault: (error: unknown) => void;
}

/** The session under which a connection was opened. */
export interface ClientCredentials<Who extends SessionHolder> {
  readonly token: string;
  readonly session: ClientSession<Who>;
}

/** One client from the handshake to the end: who it is, whether it lives, when it has to go. */
export class ClientConnection<Who extends SessionHolder, Addressee> {
  readonly outbox: Outbox<Addressee>;
  readonly requests: RequestWindow;
  readonly guard: SessionGuard<Who>;
  private readonly protocol: ConnectionProtocol<Addressee>;
  private phase: 'OPENED' | 'GREETING' | 'GREETED' = 'OPENED';
  private ended = false;
  private heardAt: bigint;
  private beatAt: bigint;
  private openedAt: bigint;

  constructor(
    private readonly ports: ConnectionPorts<Who>,
    private readonly socket: StreamSocket,
    { token, session }: ClientCredentials<Who>,
    openProtocol: (connection: ClientConnection<Who, Addressee>) => ConnectionProtocol<Addressee>,
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
    this.heardAt = this.openedAt;
    this.beatAt = this.openedAt;
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
    this.heardAt = this.ports.clock.monotonicNanos();
  }

  /** This process was suspended for so long. The frames that came meanwhile are still unread. */
  onStandstill(nanos: bigint): void {
    this.heardAt += nanos;
    this.openedAt += nanos;
  }

  /** The socket is gone, whichever side has closed it. Ends the connection without waiting for its last packets. */
  onClosed(code: number): void {
    if (!this.ended) this.finish(code, 'client');
  }

  /** Called several times a second. */
  tick(): void {
    if (this.ended) return;
    const now = this.ports.clock.monotonicNanos();
    const state = this.guard.poll();
    // Nothing leaves while it is unknown whether the session still holds.
    this.outbox.hold(state === 'unavailable');
    if (!this.requests.isReading) this.heardAt = now;
    const { helloMillis, heartbeatMillis, silentHeartbeats } = this.ports.limits;
    if (state === 'unauthorized') this.expire();
    else if (state === 'forbidden') this.forbid();
    else if (isPast(this.heardAt, heartbeatMillis * silentHeartbeats, now)) {
      this.close(CLOSE.heartbeat, 'nothing heard');
    } else if (this.phase === 'GREETED') this.tickGreeted(now);
    else if (this.phase === 'OPENED' && isPast(this.openedAt, helloMillis, now)) {
      this.close(CLOSE.badMessage, 'hello expected');
    }
  }

  /**
   * Greets the client once `prepared` is there and the session holds; handles no frame until then. Without anything prepared
   * this process cannot serve the client.
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
        // While it is unknown whether the session holds, it may also be unknown when it ends: the welcome waits for both.
        if (state === 'unavailable') this.outbox.hold(true);
        if (state === 'unauthorized') this.expire();
        else if (state === 'forbidden') this.forbid();
        else if (found === undefined) this.close(CLOSE.draining, 'this gateway is behind');
        else {
          this.phase = 'GREETED';
          this.beatAt = this.ports.clock.monotonicNanos();
          welcome(found);
          this.requests.hold(false);
        }
      })
      .catch((error: unknown) => {
        this.fail(error);
      });
  }

  /** Sends a reply, or anything else that must not be dropped. */
  send(part: Part): void {
    this.outbox.send(part);
  }

  /** Asks the client to go elsewhere. Its requests are still answered meanwhile. */
  goAway(reason: string): void {
    if (this.phase === 'GREETED') this.protocol.goAway(reason);
  }

  /** Answers the requests so far, reads nothing more, and closes. */
  async drain(code: number, reason: string): Promise<void> {
    await this.requests.close();
    this.close(code, reason);
  }

  close(code: number, reason: string): void {
    if (this.ended) return;
    this.finish(code, 'gateway');
    this.socket.close(code, reason);
  }

  /** For a client that has not answered the close. */
  cut(): void {
    this.socket.cut();
  }

  expire(): void {
    this.close(CLOSE.unauthorized, 'the session has ended');
  }

  /** The session holds, but not for this connection any more. */
  forbid(): void {
    this.close(CLOSE.forbidden, 'not allowed any more');
  }

  /** The client can resume at another process, or here once more. */
  fail(error: unknown): void {
    this.ports.onFault(error);
    this.close(CLOSE.draining, 'cannot go on here');
  }

  private tickGreeted(now: bigint): void {
    const { expiryNoticeMillis, heartbeatMillis } = this.ports.limits;
    if (this.guard.isEnding(expiryNoticeMillis)) this.protocol.warnOfExpiry();
    if (!isPast(this.beatAt, heartbeatMillis, now)) return;
    this.beatAt = now;
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
