import { instantFromNanos, NANOS_PER_SECOND } from '#libs/base/instant.js';
import { MISMATCH } from '#libs/edge/decoding/decode.js';
import type { Caller } from '#libs/edge/endpoint.js';
import { shardUuid } from '../stream-limits.js';
import type { SessionGuard } from '#libs/socket/session-guard.js';
import { CLOSE } from '#libs/socket/socket.js';
import {
  type ClientMessage,
  type Control,
  CONTROL_MESSAGES,
  type ControlName,
  isCommand,
  isControl,
  type StreamCommandName,
} from '../client-messages.js';
import type { CommandAnswer, Refused, WatchedConnection } from '../ports.js';
import {
  ack,
  FAILED,
  FORBIDDEN,
  INVALID,
  message,
  OUT_OF_RANGE,
  reject,
  SESSION_UNKNOWN,
  UNAUTHORIZED,
} from '../server-messages.js';
import type { SubscriptionTable } from '../subscriptions/subscription-table.js';
import type { Greeting } from './greeting.js';
import type { RunRequest, StreamConnection, StreamPorts } from './stream-ports.js';
import { SubscriptionHandler } from './subscription-handler.js';

const REFUSALS = {
  foreign: FORBIDDEN,
  unauthorized: UNAUTHORIZED,
  forbidden: FORBIDDEN,
  unavailable: SESSION_UNKNOWN,
} as const;
const auctionId = shardUuid('invalid_auction_id');

/** Handles the messages after the welcome: commands, and messages about the connection itself. */
export class MessageHandler {
  private readonly subscriptions: SubscriptionHandler;
  private readonly watched: WatchedConnection;
  private readonly isWatched: boolean;
  private saidBye = false;

  constructor(
    private readonly ports: StreamPorts,
    private readonly connection: StreamConnection,
    { name, graceMillis, resumed }: Greeting,
  ) {
    this.subscriptions = new SubscriptionHandler(ports, connection, name, this.run);
    this.watched = { ...name, graceMillis };
    // A resumed connection may have been watched before. Its latest hello decides.
    this.isWatched = graceMillis !== undefined || resumed !== undefined;
    if (this.isWatched) ports.presence.here(this.watched);
  }

  get table(): SubscriptionTable {
    return this.subscriptions.table;
  }

  handle(said: ClientMessage): void {
    const { type } = said;
    if (isCommand(type)) this.command(said, type);
    else if (isControl(type)) this.control(said, type);
    else this.connection.send(reject(said.cmdId, INVALID));
  }

  end(): void {
    this.table.stop();
    if (this.isWatched) this.ports.presence.gone(this.watched, this.saidBye ? 'BYE' : 'LOST');
  }

  private readonly run: RunRequest = (cmdId, task) => {
    this.connection.requests.run(task, (error) => {
      this.ports.onFault(error);
      this.connection.send(reject(cmdId, FAILED));
    });
  };

  /** Runs only under a session that is valid now. */
  private command({ cmdId, fields }: ClientMessage, name: StreamCommandName): void {
    const { connection } = this;
    if (fields === undefined) {
      connection.send(reject(cmdId, INVALID));
      return;
    }
    const checked = connection.guard.check();
    this.run(cmdId, async () => {
      const state = checked instanceof Promise ? await checked : checked;
      // A connection that has ended is not watched, so its commands must not run.
      if (connection.isEnded) return;
      if (state === 'unauthorized') connection.expire();
      else if (state === 'forbidden') connection.forbid();
      else if (state === 'unavailable') connection.send(reject(cmdId, SESSION_UNKNOWN));
      else {
        const { principal } = connection.guard;
        const { connectionId } = this.watched;
        const answer = await this.ports.commands.run({ name, fields, principal, connectionId });
        connection.send(answerMessage(cmdId, answer));
      }
    });
  }

  private control(said: ClientMessage, type: ControlName): void {
    const { cmdId } = said;
    const { connection, subscriptions } = this;
    switch (type) {
      case 'hello':
        connection.send(reject(cmdId, OUT_OF_RANGE));
        return;
      case 'subscribe':
        this.decoded(type, said, (wanted) => {
          const refusal = misaddressed(wanted);
          if (refusal === undefined) subscriptions.subscribe(cmdId, wanted);
          else connection.send(reject(cmdId, refusal));
        });
        return;
      case 'unsubscribe':
        this.decoded(type, said, ({ subscription_id: id }) => {
          subscriptions.unsubscribe(cmdId, id);
        });
        return;
      case 'auth.refresh':
        this.decoded(type, said, ({ token }) => {
          this.refresh(cmdId, token);
        });
        return;
      case 'ping':
        this.decoded(type, said, () => {
          connection.send(message('pong', { cmd_id: cmdId }));
        });
        return;
      case 'bye':
        this.decoded(type, said, () => {
          this.leave(cmdId);
        });
    }
  }

  private decoded<Name extends ControlName>(
    name: Name,
    said: ClientMessage,
    handle: (wanted: Control<Name>) => void,
  ): void {
    const wanted = decodeControl(name, said);
    if (wanted === undefined) this.connection.send(reject(said.cmdId, INVALID));
    else handle(wanted);
  }

  private refresh(cmdId: string, token: string): void {
    const { connection } = this;
    const { guard } = connection;
    this.run(cmdId, async () => {
      const outcome = await guard.refresh(token);
      if (outcome === 'refreshed') connection.send(ack(cmdId, 200, JSON.stringify(sessionEnd(guard))));
      else connection.send(reject(cmdId, REFUSALS[outcome]));
    });
  }

  /** Answers earlier requests first. */
  private leave(cmdId: string): void {
    const { connection } = this;
    this.saidBye = true;
    void connection.requests.close().then(() => {
      connection.send(ack(cmdId, 200, '{}'));
      connection.close(CLOSE.done, 'bye');
    });
  }
}

export function decodeControl<Name extends ControlName>(
  name: Name,
  { fields }: ClientMessage,
): Control<Name> | undefined {
  if (fields === undefined) return undefined;
  const decoded = CONTROL_MESSAGES[name].decode(fields);
  return decoded === MISMATCH ? undefined : (decoded as Control<Name>);
}

export function sessionEnd({ expiresAt }: SessionGuard<Caller>): { readonly session_expires_at: string } {
  return { session_expires_at: instantFromNanos(BigInt(expiresAt) * NANOS_PER_SECOND) };
}

function answerMessage(cmdId: string, { status, body }: CommandAnswer): string {
  if (status < 400) return ack(cmdId, status, body === '' ? '{}' : body);
  return reject(cmdId, { status, ...(JSON.parse(body) as { error: string }) });
}

/** A subscription to one auction names it; one to all auctions names none. */
function misaddressed({
  channel,
  auction_id: id,
  after_seq: after,
}: Control<'subscribe'>): Refused | undefined {
  if (channel === 'auctions') return id === undefined && after === undefined ? undefined : INVALID;
  if (id === undefined) return INVALID;
  return auctionId.accepts(id) ? undefined : { status: 400, error: auctionId.fault };
}
