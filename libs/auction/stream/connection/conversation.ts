import { instantFromNanos } from '#libs/base/instant.js';
import {
  ClientConnection,
  type ConnectionProtocol,
  type ClientCredentials,
} from '#libs/socket/client-connection.js';
import { CLOSE, type StreamSocket } from '#libs/socket/socket.js';
import type { Caller } from '#libs/edge/endpoint.js';
import { isCommand, isControl, readMessage, type ClientMessage } from '../client-messages.js';
import { INVALID, message, OUT_OF_RANGE, reject } from '../server-messages.js';
import type { SubscriptionTable } from '../subscriptions/subscription-table.js';
import type { Subscription } from '../subscriptions/subscription.js';
import { greet, type Greeting } from './greeting.js';
import { decodeControl, MessageHandler, sessionEnd } from './message-handler.js';
import type { StreamConnection, StreamPorts } from './stream-ports.js';

export function openConnection(
  ports: StreamPorts,
  socket: StreamSocket,
  credentials: ClientCredentials<Caller>,
): StreamConnection {
  return new ClientConnection(
    ports,
    socket,
    credentials,
    (connection: StreamConnection) => new Conversation(ports, connection),
  );
}

/** The messages of one connection to the auctions' stream: `hello` and its welcome, then everything else. */
class Conversation implements ConnectionProtocol<Subscription> {
  /** Set by the welcome. */
  private handler: MessageHandler | undefined;

  constructor(
    private readonly ports: StreamPorts,
    private readonly connection: StreamConnection,
  ) {}

  receive(frame: string): void {
    const said = readMessage(frame);
    if (said === undefined) {
      this.connection.close(CLOSE.badMessage, 'a message is a JSON object with a cmd_id');
      return;
    }
    const { type } = said;
    this.ports.meter.received(isControl(type) || isCommand(type) ? type : 'unknown');
    if (this.handler !== undefined) this.handler.handle(said);
    else if (type === 'hello') this.greet(said);
    else this.connection.close(CLOSE.badMessage, 'hello comes first');
  }

  beat(): void {
    this.table?.beat();
  }

  warnOfExpiry(): void {
    this.connection.send(message('session_expiring', sessionEnd(this.connection.guard)));
  }

  goAway(reason: string): void {
    this.connection.send(message('goaway', { reason }));
  }

  wouldLose(auctionIds: ReadonlySet<string>): boolean {
    return this.table?.wouldLose(auctionIds) === true;
  }

  sendStateInstead(dropped: ReadonlyMap<Subscription, number>): void {
    this.table?.sendStateInstead(dropped);
  }

  end(): void {
    this.handler?.end();
  }

  private get table(): SubscriptionTable | undefined {
    return this.handler?.table;
  }

  private greet(said: ClientMessage): void {
    const { cmdId } = said;
    const { connection, ports } = this;
    const hello = decodeControl('hello', said);
    if (hello === undefined) {
      connection.send(reject(cmdId, INVALID));
      return;
    }
    if ((hello.cancel_on_disconnect?.grace_ms ?? 0) > ports.limits.maxGraceMillis) {
      connection.send(reject(cmdId, OUT_OF_RANGE));
      return;
    }
    connection.greet(greet(hello, connection.account, ports), (greeting) => {
      this.welcome(cmdId, greeting);
    });
  }

  /** All of this happens without waiting, so that the feed does not move meanwhile. */
  private welcome(cmdId: string, greeting: Greeting): void {
    const { connection, ports } = this;
    const { resumed, error } = greeting;
    this.handler = new MessageHandler(ports, connection, greeting);
    const { table } = this.handler;
    if (resumed !== undefined) {
      table.restore(resumed.point, resumed.seen);
      ports.meter.resumed('RESUMED');
    } else if (error !== undefined) ports.meter.resumed(error);
    const { names: subscriptions } = table;
    const render = (): string =>
      message('welcome', {
        cmd_id: cmdId,
        connection_id: greeting.name.connectionId,
        server_time: instantFromNanos(ports.clock.epochNanos()),
        ...sessionEnd(connection.guard),
        heartbeat_ms: ports.limits.heartbeatMillis,
        resumed: resumed !== undefined,
        subscriptions,
        ...(error === undefined ? {} : { resume_error: error }),
      });
    // Rendered when it leaves, because the end of the session is known only then.
    connection.send({ size: 0, render });
    if (resumed !== undefined) table.resume(resumed.point, resumed.broken, resumed.history);
  }
}
