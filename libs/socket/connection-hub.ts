import { NANOS_PER_MILLI } from '#libs/base/instant.js';
import { pause, repeat, type Cancel, type Clock } from '#libs/platform/time/clock.js';
import type { ClientConnection, ClientCredentials } from './client-connection.js';
import type { SessionHolder } from './session-guard.js';
import { CLOSE, type StreamSocket } from './socket.js';

export interface HubPorts<Holder extends SessionHolder, Addressee> {
  readonly open: (
    socket: StreamSocket,
    credentials: ClientCredentials<Holder>,
  ) => ClientConnection<Holder, Addressee>;
  /** False while this process cannot show everything to a new client. */
  readonly isWhole: () => boolean;
  /** Called at each tick. Returns a reason to send all clients elsewhere, each reason once. */
  readonly reasonToLeave: () => string | undefined;
  readonly meter: { opened(): void };
  readonly clock: Clock;
  readonly connectionsPerAccount: number;
  readonly onFault: (error: unknown) => void;
}

const TICK_MILLIS = 250;
/** A tick this late means that the machine slept or the process was stopped, so no client was read meanwhile. */
const STANDSTILL_NANOS = 1_000n * NANOS_PER_MILLI;
const DRAIN_POLL_MILLIS = 50;
/** Time for replies to requests that are already in flight. */
const LAST_REPLIES_MILLIS = 3_000;
/** Time for clients to read everything and to answer the close frame. */
const CLOSE_MILLIS = 1_000;

/** All connections of one process. Ticks them by one timer, counts them by account, and drains them at shutdown. */
export class ConnectionHub<Holder extends SessionHolder, Addressee> {
  private readonly connections = new Set<ClientConnection<Holder, Addressee>>();
  private readonly countByAccount = new Map<string, number>();
  private cancel: Cancel = () => undefined;
  private draining = false;
  private lastTickAt: bigint | undefined;

  constructor(private readonly ports: HubPorts<Holder, Addressee>) {}

  get size(): number {
    return this.connections.size;
  }

  get isDraining(): boolean {
    return this.draining;
  }

  /** True while this process cannot show everything to a new client. */
  get isBlind(): boolean {
    return !this.ports.isWhole();
  }

  hasRoomFor(account: string): boolean {
    return (this.countByAccount.get(account) ?? 0) < this.ports.connectionsPerAccount;
  }

  start(): void {
    this.cancel = repeat(this.ports.clock, TICK_MILLIS, () => {
      this.tick();
      return Promise.resolve();
    });
  }

  open(socket: StreamSocket, credentials: ClientCredentials<Holder>): ClientConnection<Holder, Addressee> {
    const connection = this.ports.open(socket, credentials);
    const { account } = connection;
    this.connections.add(connection);
    this.countByAccount.set(account, (this.countByAccount.get(account) ?? 0) + 1);
    this.ports.meter.opened();
    return connection;
  }

  closed(connection: ClientConnection<Holder, Addressee>, code: number): void {
    const { account } = connection;
    const left = (this.countByAccount.get(account) ?? 1) - 1;
    if (left === 0) this.countByAccount.delete(account);
    else this.countByAccount.set(account, left);
    this.connections.delete(connection);
    connection.onClosed(code);
  }

  /** Asks all clients to leave and waits. Answers the requests of those left, closes them, and terminates any that stay. */
  async drain(patienceMillis: number): Promise<void> {
    const { clock } = this.ports;
    this.draining = true;
    for (const connection of this.connections) connection.goAway('DRAINING');
    await this.untilAllLeft(patienceMillis);
    const drained = [...this.connections].map((one) => one.drain(CLOSE.draining, 'draining'));
    await Promise.race([Promise.all(drained), pause(clock, LAST_REPLIES_MILLIS)]);
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
    const standstill = this.standstillNanos();
    const reason = this.ports.reasonToLeave();
    for (const connection of this.connections) {
      // A connection that fails must not affect the others.
      try {
        if (standstill > 0n) connection.onStandstill(standstill);
        connection.tick();
        if (reason !== undefined) connection.goAway(reason);
      } catch (error) {
        connection.fail(error);
      }
    }
  }

  /** How long this process was suspended before this tick. */
  private standstillNanos(): bigint {
    const now = this.ports.clock.monotonicNanos();
    const since = now - (this.lastTickAt ?? now);
    this.lastTickAt = now;
    return since > STANDSTILL_NANOS ? since : 0n;
  }
}
