import { NANOS_PER_MILLI } from '#libs/base/instant.js';
import { pause, repeat, type Cancel, type Clock } from '#libs/platform/time/clock.js';
import type { ClientConnection, ClientCredentials } from './client-connection.js';
import type { SessionHolder } from './session-guard.js';
import { CLOSE, type StreamSocket } from './socket.js';

export interface HubPorts<Who extends SessionHolder, Addressee> {
  readonly open: (
    socket: StreamSocket,
    credentials: ClientCredentials<Who>,
  ) => ClientConnection<Who, Addressee>;
  /** False while a new client would not be shown everything. */
  readonly isWhole: () => boolean;
  /** Called at each tick. Returns each reason to move all clients elsewhere once. */
  readonly reasonToLeave: () => string | undefined;
  readonly meter: { opened(): void };
  readonly clock: Clock;
  readonly connectionsPerAccount: number;
  readonly onFault: (error: unknown) => void;
}

const TICK_MILLIS = 250;
/** A tick that comes this late: the machine slept, or the process was stopped, and no client was heard meanwhile. */
const STANDSTILL_NANOS = 1_000n * NANOS_PER_MILLI;
const DRAIN_POLL_MILLIS = 50;
/** Time for the replies to requests that came before the end. */
const LAST_ANSWERS_MILLIS = 3_000;
/** Time for clients to read everything and to answer the close. */
const CLOSE_MILLIS = 1_000;

/** All connections of one process: ticked by one timer, counted by account, and drained when the process goes. */
export class ConnectionHub<Who extends SessionHolder, Addressee> {
  private readonly connections = new Set<ClientConnection<Who, Addressee>>();
  private readonly byAccount = new Map<string, number>();
  private cancel: Cancel = () => undefined;
  private draining = false;
  private tickedAt: bigint | undefined;

  constructor(private readonly ports: HubPorts<Who, Addressee>) {}

  get size(): number {
    return this.connections.size;
  }

  get isDraining(): boolean {
    return this.draining;
  }

  /** A new client would not be shown everything here. */
  get isBlind(): boolean {
    return !this.ports.isWhole();
  }

  hasRoomFor(account: string): boolean {
    return (this.byAccount.get(account) ?? 0) < this.ports.connectionsPerAccount;
  }

  start(): void {
    this.cancel = repeat(this.ports.clock, TICK_MILLIS, () => {
      this.tick();
      return Promise.resolve();
    });
  }

  open(socket: StreamSocket, credentials: ClientCredentials<Who>): ClientConnection<Who, Addressee> {
    const connection = this.ports.open(socket, credentials);
    const { account } = connection;
    this.connections.add(connection);
    this.byAccount.set(account, (this.byAccount.get(account) ?? 0) + 1);
    this.ports.meter.opened();
    return connection;
  }

  closed(connection: ClientConnection<Who, Addressee>, code: number): void {
    const { account } = connection;
    const left = (this.byAccount.get(account) ?? 1) - 1;
    if (left === 0) this.byAccount.delete(account);
    else this.byAccount.set(account, left);
    this.connections.delete(connection);
    connection.onClosed(code);
  }

  /** Asks all clients to go, waits, answers the requests of the others, closes, and cuts off those that stay. */
  async drain(patienceMillis: number): Promise<void> {
    const { clock } = this.ports;
    this.draining = true;
    for (const connection of this.connections) connection.goAway('DRAINING');
    await this.untilAllLeft(patienceMillis);
    const drained = [...this.connections].map((one) => one.drain(CLOSE.draining, 'draining'));
    await Promise.race([Promise.all(drained), pause(clock, LAST_ANSWERS_MILLIS)]);
    for (const connection of this.connections) connection.close(CLOSE.draining, 'draining');
    await this.untilAllLeft(CLOSE_MILLIS);
    for (const connection of this.connections) connection.cut();
    this.cancel();
  }

  private async untilAllLeft(withinMillis: number): Promise<void> {
    for (let waited = 0; waited < withinMillis && this.connections.size > 0; waited += DRAIN_POLL_MILLIS) {
      await pause(this.ports.clock, DRAIN_POLL_MILLIS);
    }
  }

  private tick(): void {
    const missed = this.missedNanos();
    const reason = this.ports.reasonToLeave();
    for (const connection of this.connections) {
      // One that fails must not take the others with it.
      try {
        if (missed > 0n) connection.onStandstill(missed);
        connection.tick();
        if (reason !== undefined) connection.goAway(reason);
      } catch (error) {
        connection.fail(error);
      }
    }
  }

  /** How long this process stood still before this tick. */
  private missedNanos(): bigint {
    const now = this.ports.clock.monotonicNanos();
    const since = now - (this.tickedAt ?? now);
    this.tickedAt = now;
    return since > STANDSTILL_NANOS ? since : 0n;
  }
}
