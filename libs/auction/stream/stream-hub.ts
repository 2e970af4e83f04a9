import { pause, repeat, type Cancel, type Clock } from '#libs/platform/time/clock.js';
import type { Principal } from '#libs/edge/endpoint.js';
import type { ClientCredentials } from '#libs/socket/client-connection.js';
import { openConnection } from './connection/conversation.js';
import type { StreamConnection, StreamPorts } from './connection/stream-ports.js';
import { CLOSE, type StreamSocket } from '#libs/socket/socket.js';

const TICK_MILLIS = 250;
const NANOS_PER_MILLI = 1_000_000n;
/** A timer that comes this late: the machine slept, or the process was stopped. Nobody was listened to meanwhile. */
const STANDSTILL_NANOS = 1_000n * NANOS_PER_MILLI;
const DRAIN_LOOK_MILLIS = 50;
/** How long commands that came before the end may take for their answers. */
const LAST_ANSWERS_MILLIS = 3_000;
/** Then clients have this to read it all and to answer the close; whoever does not read is not waited for longer. */
const CLOSE_MILLIS = 1_000;

/** All connections of one gateway: looked after by one timer, counted, and told to go when the gateway does. */
export class StreamHub {
  private readonly connections = new Set<StreamConnection>();
  private readonly byAccount = new Map<string, number>();
  private cancel: Cancel = () => undefined;
  private draining = false;
  private lookedAt: bigint | undefined;
  /** Shards of which this gateway has told its clients that it cannot follow them any more. */
  private stoppedShards = 0;

  constructor(
    private readonly ports: StreamPorts,
    private readonly clock: Clock,
    private readonly connectionsPerAccount: number,
  ) {}

  get size(): number {
    return this.connections.size;
  }

  get isDraining(): boolean {
    return this.draining;
  }

  /** What somebody new was shown here would lack something. */
  get isBlind(): boolean {
    return !this.ports.feed.isWhole;
  }

  hasRoomFor(account: string): boolean {
    return (this.byAccount.get(account) ?? 0) < this.connectionsPerAccount;
  }

  start(): void {
    this.cancel = repeat(this.clock, TICK_MILLIS, () => {
      this.tick();
      return Promise.resolve();
    });
  }

  open(socket: StreamSocket, credentials: ClientCredentials<Principal>): StreamConnection {
    const connection = openConnection(this.ports, socket, credentials);
    const { account } = connection;
    this.connections.add(connection);
    this.byAccount.set(account, (this.byAccount.get(account) ?? 0) + 1);
    this.ports.meter.opened();
    return connection;
  }

  closed(connection: StreamConnection, code: number): void {
    const { account } = connection;
    const left = (this.byAccount.get(account) ?? 1) - 1;
    if (left === 0) this.byAccount.delete(account);
    else this.byAccount.set(account, left);
    this.connections.delete(connection);
    connection.onClosed(code);
  }

  /** Tells everybody to go, gives them a moment to do so and their commands time to be answered, closes, and cuts off who stays. */
  async drain(patienceMillis: number): Promise<void> {
    this.draining = true;
    for (const connection of this.connections) connection.goAway('DRAINING');
    await this.untilAllLeft(patienceMillis);
    const finished = [...this.connections].map((one) => one.drain(CLOSE.draining, 'draining'));
    await Promise.race([Promise.all(finished), pause(this.clock, LAST_ANSWERS_MILLIS)]);
    for (const connection of this.connections) connection.close(CLOSE.draining, 'draining');
    await this.untilAllLeft(CLOSE_MILLIS);
    for (const connection of this.connections) connection.cut();
    this.cancel();
  }

  private async untilAllLeft(withinMillis: number): Promise<void> {
    for (let waited = 0; waited < withinMillis && this.connections.size > 0; waited += DRAIN_LOOK_MILLIS) {
      await pause(this.clock, DRAIN_LOOK_MILLIS);
    }
  }

  private tick(): void {
    const missed = this.missed();
    const hasStopped = this.ports.feed.stoppedShards.length > this.stoppedShards;
    this.stoppedShards = this.ports.feed.stoppedShards.length;
    for (const connection of this.connections) {
      // One that fails must not take the others with it.
      try {
        if (missed > 0n) connection.onStandstill(missed);
        connection.tick();
        if (hasStopped) connection.goAway('SHARD_STOPPED');
      } catch (error) {
        this.ports.onFault(error);
        connection.close(CLOSE.draining, 'cannot go on here');
      }
    }
  }

  private missed(): bigint {
    const now = this.clock.monotonicNanos();
    const since = now - (this.lookedAt ?? now);
    this.lookedAt = now;
    return since > STANDSTILL_NANOS ? since : 0n;
  }
}
