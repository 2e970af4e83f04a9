import { instantFromNanos } from '#libs/base/instant.js';
import { isCommand, isControl, readMessage, type ClientMessage } from '../client-messages.js';
import type { Session } from '../ports.js';
import { message, reject } from '../server-messages.js';
import { CLOSE, type StreamSocket } from '#libs/socket/socket.js';
import type { ConnectionPorts } from './connection-ports.js';
import { Conversation } from './conversation.js';
import { decodeControl, sessionEnd } from './control-desk.js';
import { greet, type Greeting } from './greeting.js';
import { Intake } from '#libs/socket/intake.js';
import { Line } from '#libs/socket/line.js';
import { INVALID, OUT_OF_RANGE } from '#libs/socket/refusals.js';
import { SessionGuard } from '#libs/socket/session-guard.js';
import { SlowReader } from './slow-reader.js';

const NANOS_PER_MILLI = 1_000_000n;

/** One client from the handshake to the end: who it is, whether it lives, when it has to go. */
export class Connection {
  private readonly line: Line;
  private readonly intake: Intake;
  private readonly guard: SessionGuard;
  private readonly slowReader: SlowReader;
  private conversation: Conversation | undefined;
  private isGreeting = false;
  private heardAt: bigint;
  private beatAt: bigint;
  private openedAt: bigint;

  constructor(
    private readonly ports: ConnectionPorts,
    private readonly socket: StreamSocket,
    token: string,
    session: Session,
  ) {
    const { clock, limits, sessions } = ports;
    this.line = new Line(socket, {
      limits,
      onOverflow: () => {
        this.slowReader.overflowed(this.conversation?.book);
      },
      onFault: (error) => {
        this.fail(error);
      },
      onEnd: (code, by) => {
        ports.meter.closed(code, by);
        this.intake.end();
        this.conversation?.end();
      },
    });
    this.slowReader = new SlowReader(this.line, clock, limits);
    this.guard = new SessionGuard(sessions, clock, token, session);
    this.intake = new Intake(socket, limits.commandsInFlight, (frame) => {
      if (!this.line.isEnded) this.receive(frame);
    });
    this.openedAt = clock.monotonicNanos();
    this.heardAt = this.openedAt;
    this.beatAt = this.openedAt;
  }

  get account(): string {
    return this.guard.principal.account_id;
  }

  onText(frame: string): void {
    if (this.line.isEnded) return;
    this.onAlive();
    this.intake.take(frame);
  }

  onBinary(): void {
    this.close(CLOSE.badMessage, 'text frames only');
  }

  onAlive(): void {
    this.heardAt = this.ports.clock.monotonicNanos();
  }

  /** This process did not run for so long; what came meanwhile has still to be read. */
  onStandstill(nanos: bigint): void {
    this.heardAt += nanos;
    this.openedAt += nanos;
  }

  /** The socket is gone, whoever has closed it. */
  onClosed(code: number): void {
    this.line.end(code);
  }

  /** Looked at several times a second. */
  tick(): void {
    if (this.line.isEnded) return;
    const now = this.ports.clock.monotonicNanos();
    const standing = this.guard.look();
    // While nobody can say whether the session still holds, it is told nothing.
    this.line.outbox.hold(standing === 'unavailable');
    if (!this.intake.isReading) this.heardAt = now;
    const { helloMillis, heartbeatMillis, silentHeartbeats } = this.ports.limits;
    if (standing === 'unauthorized') this.expire();
    else if (isPast(this.heardAt, heartbeatMillis * silentHeartbeats, now)) {
      this.close(CLOSE.heartbeat, 'nothing heard');
    } else if (this.conversation !== undefined) this.lookAfter(this.conversation, now);
    else if (!this.isGreeting && isPast(this.openedAt, helloMillis, now)) {
      this.close(CLOSE.badMessage, 'hello expected');
    }
  }

  /** Tells the client to go elsewhere; what it says meanwhile is still answered. */
  goAway(reason: string): void {
    if (this.conversation !== undefined) this.line.say(message('goaway', { reason }));
  }

  close(code: number, reason: string): void {
    this.line.close(code, reason);
  }

  /** Hears nothing more, answers what it has heard, and closes. */
  async finish(code: number, reason: string): Promise<void> {
    await this.intake.close();
    this.close(code, reason);
  }

  /** Of a client that has not answered the close. */
  cut(): void {
    this.socket.cut();
  }

  private lookAfter({ book }: Conversation, now: bigint): void {
    const { expiryNoticeMillis, heartbeatMillis } = this.ports.limits;
    if (this.guard.isEnding(expiryNoticeMillis)) {
      this.line.say(message('session_expiring', sessionEnd(this.guard)));
    }
    if (!isPast(this.beatAt, heartbeatMillis, now)) return;
    this.beatAt = now;
    book.beat();
    this.socket.ping();
  }

  private receive(frame: string): void {
    const said = readMessage(frame);
    if (said === undefined) {
      this.close(CLOSE.badMessage, 'a message is a JSON object with a cmd_id');
      return;
    }
    const { type } = said;
    this.ports.meter.received(isControl(type) || isCommand(type) ? type : 'unknown');
    if (this.conversation !== undefined) this.conversation.take(said);
    else if (type === 'hello') this.greet(said);
    else this.close(CLOSE.badMessage, 'hello comes first');
  }

  private greet(said: ClientMessage): void {
    const { cmdId } = said;
    const hello = decodeControl('hello', said);
    if (hello === undefined) {
      this.line.say(reject(cmdId, INVALID));
      return;
    }
    const { limits, feed, recollector, tokens, clock, newId } = this.ports;
    if ((hello.cancel_on_disconnect?.grace_ms ?? 0) > limits.maxGraceMillis) {
      this.line.say(reject(cmdId, OUT_OF_RANGE));
      return;
    }
    this.isGreeting = true;
    this.intake.hold(true);
    const { catchUpMillis } = limits;
    const greeting = greet(hello, this.account, { feed, recollector, tokens, clock, newId, catchUpMillis });
    Promise.all([greeting, this.guard.check()])
      .then(([greeted, standing]) => {
        if (this.line.isEnded) return;
        // Where nobody can say whether the session holds, nobody may know yet when it ends either: the welcome waits for both.
        if (standing === 'unavailable') this.line.outbox.hold(true);
        if (standing === 'unauthorized') this.expire();
        else this.welcome(cmdId, greeted);
      })
      .catch((error: unknown) => {
        this.fail(error);
      });
  }

  /** Everything from here on happens at one moment, so that the feed stands still. */
  private welcome(cmdId: string, greeting: Greeting | undefined): void {
    if (greeting === undefined) {
      this.close(CLOSE.draining, 'this gateway is behind');
      return;
    }
    const { line, intake, guard, ports } = this;
    const { resumed, error } = greeting;
    this.conversation = new Conversation(ports, { line, intake, guard, greeting });
    const { book } = this.conversation;
    if (resumed !== undefined) {
      book.restore(resumed.point, resumed.seen);
      ports.meter.resumed('RESUMED');
    } else if (error !== undefined) ports.meter.resumed(error);
    const { names: subscriptions } = book;
    const render = (): string =>
      message('welcome', {
        cmd_id: cmdId,
        connection_id: greeting.name.connectionId,
        server_time: instantFromNanos(ports.clock.epochNanos()),
        ...sessionEnd(guard),
        heartbeat_ms: ports.limits.heartbeatMillis,
        resumed: resumed !== undefined,
        subscriptions,
        ...(error === undefined ? {} : { resume_error: error }),
      });
    // Rendered when it leaves: by then it is known when the session ends.
    line.say({ size: 0, render });
    this.beatAt = ports.clock.monotonicNanos();
    if (resumed !== undefined) book.resume(resumed.point, resumed.broken, resumed.recollection);
    intake.hold(false);
  }

  private expire(): void {
    this.close(CLOSE.unauthorized, 'the session has ended');
  }

  /** It can be gone on with at another gateway, or here once more. */
  private fail(error: unknown): void {
    this.ports.onFault(error);
    this.close(CLOSE.draining, 'cannot go on here');
  }
}

function isPast(since: bigint, millis: number, now: bigint): boolean {
  return now - since >= BigInt(millis) * NANOS_PER_MILLI;
}
