import { instantFromNanos, NANOS_PER_SECOND } from '#libs/base/instant.js';
import type { Decoder } from '#libs/edge/decoding/decode.js';
import type { SessionGuard } from '#libs/socket/session-guard.js';
import { CLOSE } from '#libs/socket/socket.js';
import { printTime } from '../../rules/record.js';
import {
  CONTROL_MESSAGES,
  isCommand,
  isControl,
  readControl,
  type SocketControlName,
} from '../client-messages.js';
import type { ClientFrame } from '../frames.js';
import { tokenOver, type CommandName, type StreamCaller } from '../ports.js';
import {
  answerMessage,
  errorMessage,
  FAILED,
  FOREIGN,
  invalid,
  message,
  SESSION_UNKNOWN,
  TWICE,
  UNAUTHORIZED,
  UNKNOWN_OP,
  type FrameRefusal,
} from '../server-messages.js';
import type { OrderSubscription, OrderSubscriptions } from '../subscriptions.js';
import type { SocketGreeting } from './greeting.js';
import type { SocketConnection, SocketPorts } from './socket-ports.js';
import { SubscriptionKeeper } from './subscription-keeper.js';

const REFUSALS = {
  foreign: FOREIGN,
  unauthorized: UNAUTHORIZED,
  forbidden: FOREIGN,
  unavailable: SESSION_UNKNOWN,
};
/** A key has no session. It is valid until it is revoked. */
const NO_END = Number.MAX_SAFE_INTEGER;

/** Answers frames after the welcome: commands, and frames that concern the connection. */
export class FrameHandler {
  private readonly keeper: SubscriptionKeeper;
  private turn: Promise<void> = Promise.resolve();
  private saidBye = false;

  constructor(
    private readonly ports: SocketPorts,
    private readonly connection: SocketConnection,
    private readonly greeting: SocketGreeting,
  ) {
    this.keeper = new SubscriptionKeeper(ports, connection, greeting);
  }

  get subscriptions(): OrderSubscriptions {
    return this.keeper.subscriptions;
  }

  /** Called after the welcome. */
  begin(): void {
    const { connectionId, attachment, graceMillis, resumed } = this.greeting;
    const { connection } = this;
    this.ports.presence.begun({
      ...{ connectionId, attachment, account: connection.account, graceMillis },
      isResumed: resumed !== undefined,
      onLapsed: () => {
        connection.close(CLOSE.draining, 'this gateway was not heard of, and orders were cancelled');
      },
    });
    this.keeper.begin();
  }

  handle(frame: ClientFrame): void {
    const { op, reqId } = frame;
    if (isCommand(op)) this.command(frame, op);
    else if (isControl(op)) this.control(frame, op);
    else this.refuse(reqId, UNKNOWN_OP);
  }

  /** Called several times a second. */
  look(): void {
    this.keeper.lookAtAccess();
  }

  sendStateInstead(dropped: ReadonlyMap<OrderSubscription, number>): void {
    this.keeper.sendStateInstead(dropped);
  }

  end(): void {
    this.keeper.end();
    // An order on its way to the cell must be cancelled with the connection, so it goes first.
    void this.turn.then(() => {
      this.ports.presence.ended(this.greeting, this.saidBye ? 'BYE' : 'LOST');
    });
  }

  private refuse(reqId: string, { status, body }: FrameRefusal): void {
    this.connection.send(errorMessage(reqId, status, body));
  }

  private run(reqId: string, task: () => Promise<void>): void {
    this.connection.requests.run(task, (error) => {
      this.ports.onFault(error);
      this.refuse(reqId, FAILED);
    });
  }

  /** Commands run one after the other. Each needs a session that is valid at that moment. */
  private command({ reqId, members }: ClientFrame, name: CommandName): void {
    if (members === undefined) {
      this.refuse(reqId, TWICE);
      return;
    }
    const before = this.turn;
    this.run(reqId, () => {
      const done = before.then(() => this.runCommand(reqId, name, members));
      this.turn = done.catch(() => undefined);
      return done;
    });
  }

  private async runCommand(
    reqId: string,
    name: CommandName,
    members: ReadonlyMap<string, string>,
  ): Promise<void> {
    const { connection, greeting } = this;
    const state = await connection.guard.check();
    // A connection that has ended is not watched, so its commands must not run.
    if (connection.isEnded) return;
    if (state === 'unavailable') this.refuse(reqId, SESSION_UNKNOWN);
    else if (state === 'unauthorized') connection.expire();
    else if (state === 'forbidden') connection.forbid();
    else {
      const { connectionId, graceMillis } = greeting;
      const watched = graceMillis === undefined ? {} : { connectionId };
      const call = { name, members, caller: connection.guard.principal, ...watched };
      connection.send(answerMessage(reqId, await this.ports.commands.run(call)));
    }
  }

  private control(frame: ClientFrame, op: SocketControlName): void {
    const { reqId } = frame;
    const { connection, keeper } = this;
    switch (op) {
      case 'hello':
        this.refuse(reqId, invalid('op', 'hello comes once.'));
        return;
      case 'subscribe':
        this.read(CONTROL_MESSAGES.subscribe, frame, ({ exchange_ids: venues }) => {
          this.run(reqId, () => keeper.subscribe(reqId, venues));
        });
        return;
      case 'unsubscribe':
        this.read(CONTROL_MESSAGES.unsubscribe, frame, ({ subscription_id: id }) => {
          keeper.unsubscribe(reqId, id);
        });
        return;
      case 'auth.refresh':
        this.read(CONTROL_MESSAGES['auth.refresh'], frame, ({ token }) => {
          this.run(reqId, () => this.refresh(reqId, token));
        });
        return;
      case 'ping':
        this.read(CONTROL_MESSAGES.ping, frame, () => {
          connection.send(message('pong', { req_id: reqId }));
        });
        return;
      case 'bye':
        this.read(CONTROL_MESSAGES.bye, frame, () => {
          this.leave(reqId);
        });
    }
  }

  private read<T>(decoder: Decoder<T>, frame: ClientFrame, handle: (wanted: T) => void): void {
    const wanted = readControl(decoder, frame);
    if (wanted.ok) handle(wanted.value);
    else this.refuse(frame.reqId, wanted.refusal);
  }

  /** A token cannot replace an API key. A client with another key opens another socket. */
  private async refresh(reqId: string, token: string): Promise<void> {
    const { guard } = this.connection;
    const { principal } = guard;
    const isSession = principal.client_id === undefined;
    const outcome = isSession ? await guard.refresh(tokenOver(principal, token)) : 'foreign';
    if (outcome !== 'refreshed') this.refuse(reqId, REFUSALS[outcome]);
    else {
      const body = JSON.stringify(sessionEnd(guard));
      this.connection.send(answerMessage(reqId, { status: 200, body }));
    }
  }

  /** Answers earlier requests first. */
  private leave(reqId: string): void {
    const { connection } = this;
    this.saidBye = true;
    void connection.requests.close().then(() => {
      connection.send(answerMessage(reqId, { status: 200, body: '{}' }));
      connection.close(CLOSE.done, 'bye');
    });
  }
}

export function sessionEnd({ expiresAt }: SessionGuard<StreamCaller>): {
  readonly session_expires_at?: string;
} {
  if (expiresAt === NO_END) return {};
  return { session_expires_at: printTime(instantFromNanos(BigInt(expiresAt) * NANOS_PER_SECOND)) };
}
