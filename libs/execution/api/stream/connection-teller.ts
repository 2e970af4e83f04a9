import { NANOS_PER_MILLI } from '#libs/base/instant.js';
import type { LinkReply } from '#libs/link/link-protocol.js';
import { pause, type Clock } from '#libs/platform/time/clock.js';
import type { TraderRequest } from '../../protocol/cell-protocol.js';
import type { BegunConnection, ConnectionPresence } from '../../stream/presence.js';

type ConnectionRequest = Extract<TraderRequest, { op: 'connection' }>;

export interface ConnectionTellerPorts {
  /** Fails or gives another status than 200 where the cell was not told. */
  readonly ask: (user: string, request: ConnectionRequest) => Promise<LinkReply>;
  readonly newRequestId: () => string;
  readonly clock: Clock;
}

const TELL_AGAIN_MILLIS = 250;

/** What the cell is to be told of a connection. The latest counts. */
interface News {
  readonly how: ConnectionRequest['how'];
  readonly graceMillis: number;
  readonly since: bigint;
}

/** Two sockets have a connection when it was resumed before its loss was noticed. */
interface Standing {
  readonly account: string;
  readonly graceMillis: number | undefined;
  readonly sockets: number;
}

/** Tells cells what becomes of connections, in order and until they know. A grace counts from the loss, however late that is told. */
export class ConnectionTeller implements ConnectionPresence {
  private readonly news = new Map<string, News>();
  private readonly standing = new Map<string, Standing>();

  constructor(private readonly ports: ConnectionTellerPorts) {}

  begun({ connectionId, account, graceMillis, isResumed }: BegunConnection): void {
    const sockets = (this.standing.get(connectionId)?.sockets ?? 0) + 1;
    this.standing.set(connectionId, { account, graceMillis, sockets });
    if (!isResumed) return;
    // Without a wish its orders stand, whatever was wished before.
    this.tell(connectionId, account, graceMillis === undefined ? 'BYE' : 'RESUMED', graceMillis ?? 0);
  }

  ended(connectionId: string, how: 'BYE' | 'LOST'): void {
    const known = this.standing.get(connectionId);
    if (known === undefined) return;
    const { account, graceMillis, sockets } = known;
    if (sockets > 1) {
      this.standing.set(connectionId, { ...known, sockets: sockets - 1 });
      return;
    }
    this.standing.delete(connectionId);
    if (graceMillis !== undefined) this.tell(connectionId, account, how, graceMillis);
  }

  private tell(connectionId: string, account: string, how: News['how'], graceMillis: number): void {
    const isTelling = this.news.has(connectionId);
    this.news.set(connectionId, { how, graceMillis, since: this.ports.clock.monotonicNanos() });
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
    { how, graceMillis, since }: News,
  ): Promise<boolean> {
    const { ask, clock, newRequestId } = this.ports;
    const passed = Number((clock.monotonicNanos() - since) / NANOS_PER_MILLI);
    const grace_ms = Math.max(0, graceMillis - passed);
    const own = { op: 'connection', user_id, request_id: newRequestId() } as const;
    try {
      const { status } = await ask(user_id, { ...own, connection_id, how, grace_ms });
      return status === 200;
    } catch {
      return false;
    }
  }
}
