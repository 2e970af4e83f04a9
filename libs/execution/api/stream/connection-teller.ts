import { NANOS_PER_MILLI } from '#libs/base/instant.js';
import type { LinkReply } from '#libs/link/link-protocol.js';
import { pause, repeat, type Cancel, type Clock } from '#libs/platform/time/clock.js';
import type { OpenSocketCount, GatewayPresence, TraderRequest } from '../../protocol/cell-protocol.js';
import { fromWire } from '../../protocol/wire.js';
import type { AttachedConnection, BegunConnection, ConnectionPresence } from '../../stream/presence.js';

type Claim = GatewayPresence['here'][number];
type ConnectionRequest = Extract<TraderRequest, { op: 'connection' }>;

export interface ConnectionTellerPorts {
  /** Fails or gives another status than 200 where the cell was not told. */
  readonly ask: (user: string, request: ConnectionRequest) => Promise<LinkReply>;
  /** Names this life of this gateway. */
  readonly gateway: string;
  readonly cells: number;
  readonly cellOf: (user: string) => number;
  readonly sockets: { counts(): Iterable<OpenSocketCount> };
  readonly askCell: (cell: number, request: GatewayPresence) => Promise<LinkReply>;
  readonly newRequestId: () => string;
  readonly clock: Clock;
}

const TELL_AGAIN_MILLIS = 250;
/** Cells take a gateway for dead after 5 s without a word. */
const BEAT_MILLIS = 1_000;

/** What the cell is to be told of a connection. The latest counts. */
interface News {
  readonly how: ConnectionRequest['how'];
  readonly graceMillis: number;
  readonly attachment: number;
  readonly since: bigint;
}

/** Tells cells what becomes of connections, in order and until they know. A grace counts from the loss, however late that is told. */
export class ConnectionTeller implements ConnectionPresence {
  private readonly news = new Map<string, News>();
  private readonly standing = new Map<string, BegunConnection>();
  private cancel: Cancel = () => undefined;

  constructor(private readonly ports: ConnectionTellerPorts) {}

  start(): void {
    this.cancel = repeat(this.ports.clock, BEAT_MILLIS, () => {
      this.beat();
      return Promise.resolve();
    });
  }

  stop(): void {
    this.cancel();
  }

  begun(connection: BegunConnection): void {
    const { connectionId, graceMillis, isResumed } = connection;
    if (graceMillis === undefined) this.standing.delete(connectionId);
    else this.standing.set(connectionId, connection);
    // Without a wish its orders stand, whatever was wished before.
    if (isResumed) this.tell(connection, graceMillis === undefined ? 'BYE' : 'RESUMED');
    // Before its first order, so that the cell knows the grace.
    else if (graceMillis !== undefined) {
      void this.say(this.ports.cellOf(connection.account), { here: [claimOf(connection)] });
    }
  }

  ended({ connectionId, attachment }: AttachedConnection, how: 'BYE' | 'LOST'): void {
    const known = this.standing.get(connectionId);
    if (known?.attachment !== attachment) return;
    this.standing.delete(connectionId);
    this.tell(known, how);
  }

  private beat(): void {
    const { cells, cellOf, sockets } = this.ports;
    const beats = Array.from({ length: cells }, (): { sockets: OpenSocketCount[]; here: Claim[] } => ({
      ...{ sockets: [], here: [] },
    }));
    for (const count of sockets.counts()) beats[cellOf(count.user_id)]?.sockets.push(count);
    for (const standing of this.standing.values())
      beats[cellOf(standing.account)]?.here.push(claimOf(standing));
    for (const [cell, beat] of beats.entries()) void this.say(cell, beat);
  }

  /** What is not heard is said again with the next beat. */
  private async say(cell: number, said: Pick<GatewayPresence, 'here' | 'sockets'>): Promise<void> {
    const { askCell, gateway } = this.ports;
    try {
      const { status, body } = await askCell(cell, { op: 'presence', gateway, ...said });
      const lapsed = status === 200 ? lapsedIn(fromWire(body)) : [];
      for (const { connection_id, attachment } of said.here) {
        const known = this.standing.get(connection_id);
        if (lapsed.includes(connection_id) && known?.attachment === attachment) known.onLapsed();
      }
    } catch {
      return;
    }
  }

  private tell(
    { connectionId, account, attachment, graceMillis = 0 }: BegunConnection,
    how: News['how'],
  ): void {
    const isTelling = this.news.has(connectionId);
    this.news.set(connectionId, { how, graceMillis, attachment, since: this.ports.clock.monotonicNanos() });
    if (!isTelling) void this.keepTelling(connectionId, account);
  }

  private async keepTelling(connectionId: string, account: string): Promise<void> {
    for (;;) {
      const news = this.news.get(connectionId);
      if (news === undefined) return;
      const isTold = await this.tellOnce(connectionId, account, news);
      if (isTold && this.news.get(connectionId) === news) this.news.delete(connectionId);
      else if (!isTold) await pause(this.ports.clock, TELL_AGAIN_MILLIS);
    }
  }

  private async tellOnce(
    connection_id: string,
    user_id: string,
    { how, graceMillis, attachment, since }: News,
  ): Promise<boolean> {
    const { ask, clock, newRequestId } = this.ports;
    const passed = Number((clock.monotonicNanos() - since) / NANOS_PER_MILLI);
    const grace_ms = Math.max(0, graceMillis - passed);
    const own = { op: 'connection', user_id, request_id: newRequestId() } as const;
    try {
      const { status } = await ask(user_id, { ...own, connection_id, how, grace_ms, attachment });
      return status === 200;
    } catch {
      return false;
    }
  }
}

function claimOf({ connectionId, graceMillis = 0, attachment }: BegunConnection): Claim {
  return { connection_id: connectionId, grace_ms: graceMillis, attachment };
}

function lapsedIn(body: unknown): readonly unknown[] {
  return typeof body === 'object' && body !== null && 'lapsed' in body && Array.isArray(body.lapsed)
    ? body.lapsed
    : [];
}
