import { instantFromNanos } from '#libs/base/instant.js';
import {
  ClientConnection,
  type ClientCredentials,
  type ConnectionProtocol,
} from '#libs/socket/client-connection.js';
import { CLOSE, type StreamSocket } from '#libs/socket/socket.js';
import { printTime } from '../../rules/record.js';
import { CONTROL_MESSAGES, isCommand, isControl, readControl } from '../client-messages.js';
import { readFrame, type ClientFrame } from '../frames.js';
import type { StreamCaller } from '../ports.js';
import { errorMessage, invalid, message, type FrameRefusal } from '../server-messages.js';
import type { OrderSubscription } from '../subscriptions.js';
import { greet, type SocketGreeting } from './greeting.js';
import { FrameHandler, sessionEnd } from './frame-handler.js';
import type { SocketConnection, SocketPorts } from './socket-ports.js';

/** The handlers of all connections that have had their welcome. */
export type Greeted = Set<FrameHandler>;

export function openConnection(
  ports: SocketPorts,
  greeted: Greeted,
  socket: StreamSocket,
  credentials: ClientCredentials<StreamCaller>,
): SocketConnection {
  return new ClientConnection(
    ports,
    socket,
    credentials,
    (connection: SocketConnection) => new OrderStreamProtocol(ports, greeted, connection),
  );
}

/** The protocol of one `/ws` connection: `hello` and its welcome, then everything else. */
class OrderStreamProtocol implements ConnectionProtocol<OrderSubscription> {
  /** Set from the welcome on. */
  private handler: FrameHandler | undefined;

  constructor(
    private readonly ports: SocketPorts,
    private readonly greeted: Greeted,
    private readonly connection: SocketConnection,
  ) {}

  receive(text: string): void {
    const frame = readFrame(text);
    if (frame === undefined) {
      this.connection.close(CLOSE.badMessage, 'a message is a JSON object with an op and a req_id');
      return;
    }
    const { op } = frame;
    this.ports.meter.received(isControl(op) || isCommand(op) ? op : 'unknown');
    if (this.handler !== undefined) this.handler.handle(frame);
    else if (op === 'hello') this.greet(frame);
    else this.connection.close(CLOSE.badMessage, 'hello comes first');
  }

  beat(): void {
    this.handler?.subscriptions.beat();
  }

  warnOfExpiry(): void {
    this.connection.send(message('session_expiring', sessionEnd(this.connection.guard)));
  }

  goAway(reason: string): void {
    this.connection.send(message('goaway', { reason }));
  }

  wouldLose(subjects: ReadonlySet<string>): boolean {
    return this.handler?.subscriptions.wouldLose(subjects) === true;
  }

  sendStateInstead(dropped: ReadonlyMap<OrderSubscription, number>): void {
    this.handler?.sendStateInstead(dropped);
  }

  end(): void {
    if (this.handler === undefined) return;
    this.greeted.delete(this.handler);
    this.handler.end();
  }

  private greet(frame: ClientFrame): void {
    const { connection, ports } = this;
    const refuse = ({ status, body }: FrameRefusal): void => {
      connection.send(errorMessage(frame.reqId, status, body));
    };
    const hello = readControl(CONTROL_MESSAGES.hello, frame);
    if (!hello.ok) refuse(hello.refusal);
    else if ((hello.value.cancel_on_disconnect?.grace_ms ?? 0) > ports.limits.maxGraceMillis) {
      refuse(invalid('cancel_on_disconnect.grace_ms', 'grace_ms is 0 to 30000.'));
    } else {
      connection.greet(greet(hello.value, connection.account, ports), (greeting) => {
        this.welcome(frame.reqId, greeting);
      });
    }
  }

  /** All of this runs in one turn, so that no event of the feed comes in between. */
  private welcome(reqId: string, greeting: SocketGreeting): void {
    const { connection, ports } = this;
    const { resumed, error } = greeting;
    const handler = new FrameHandler(ports, connection, greeting);
    this.handler = handler;
    this.greeted.add(handler);
    if (resumed !== undefined) ports.meter.resumed('RESUMED');
    else if (error !== undefined) ports.meter.resumed(error);
    const { names: subscriptions } = handler.subscriptions;
    const render = (): string =>
      message('welcome', {
        req_id: reqId,
        connection_id: greeting.connectionId,
        server_time: printTime(instantFromNanos(ports.clock.epochNanos())),
        ...sessionEnd(connection.guard),
        heartbeat_ms: ports.limits.heartbeatMillis,
        resumed: resumed !== undefined,
        subscriptions,
        ...(error === undefined ? {} : { resume_error: error }),
      });
    // Rendered when it is sent, because only then the end of the session is known.
    connection.send({ size: 0, render });
    handler.begin();
  }
}
