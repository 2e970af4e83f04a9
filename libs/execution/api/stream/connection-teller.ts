import { NANOS_PER_MICRO, NANOS_PER_MILLI } from '#libs/base/instant.js';
import type { LinkReply } from '#libs/link/link-protocol.js';
import { pause, repeat, type Cancel, type Clock } from '#libs/platform/time/clock.js';
import type { PresenceRequest, TraderRequest } from '../../protocol/cell-protocol.js';
import type { BegunConnection, ConnectionPresence } from '../../stream/presence.js';

type ConnectionRequest = Extract<TraderRequest, { op: 'connection' }>;

export interface ConnectionTellerPorts {
  /** Fails or gives another status than 200 where the cell was not told. */
  readonly ask: (user: string, request: ConnectionRequest) => Promise<LinkReply>;
  readonly cellOf: (user: string) => number;
  readonly askCell: (cell: number, request: PresenceRequest) => Promise<LinkReply>;
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

/** Two sockets have a connection when it was resumed before its loss was noticed. */
interface Standing {
  readonly account: string;
  readonly graceMillis: number | undefined;
  readonly sockets: number;
  readonly attachment: number;
}

/** Tells cells what becomes of connections, in order and until they know. A grace counts from the loss, however late that is told. */
export class ConnectionTeller implements ConnectionPresence {
  private readonly news = new Map<string, News>();
  private readonly standing = new Map<string, Standing>();

  private cancel: Cancel = () => undefined;

  constructor(private readonly ports: ConnectionTellerPorts) {}

  start(): void {
    this.cancel = repeat(this.ports.clock, BEAT_MILLIS, () => {
      this.beat([...this.standing]);
      return Promise.resolve();
    });
  }

  stop(): void {
    this.cancel();
  }

  begun({ connectionId, account, graceMillis, isResumed }: BegunConnection): void {
    const sockets = (this.standing.get(connectionId)?.sockets ?? 0) + 1;
    const attachment = Number(this.ports.clock.epochNanos() / NANOS_PER_MICRO);
    const standing = { account, graceMillis, sockets, attachment };
    this.standing.set(connectionId, standing);
    if (!isResumed) {
      // Before its first order, so that the cell knows the grace.
      this.beat([[connectionId, standing]]);
      return;
    }
    // Without a wish its orders stand, whatever was wished before.
    this.tell(connectionId, standing, graceMillis === undefined ? 'BYE' : 'RESUMED');
  }

  ended(connectionId: string, how: 'BYE' | 'LOST'): void {
    const known = this.standing.get(connectionId);
    if (known === undefined) return;
    const { graceMillis, sockets } = known;
    if (sockets > 1) {
      this.standing.set(connectionId, { ...known, sockets: sockets - 1 });
      return;
    }
    this.standing.delete(connectionId);
    if (graceMillis !== undefined) this.tell(connectionId, known, how);
  }

  /** What is not heard is said again with the next one. */
  private beat(standing: readonly (readonly [string, Standing])[]): void {
    const { cellOf, askCell } = this.ports;
    const here = new Map<number, PresenceRequest['here'][number][]>();
    for (const [connection_id, { account, graceMillis: grace_ms, attachment }] of standing) {
      if (grace_ms === undefined) continue;
      const cell = cellOf(account);
      here.set(cell, [...(here.get(cell) ?? []), { connection_id, grace_ms, attachment }]);
    }
    for (const [cell, those] of here) askCell(cell, { op: 'presence', here: those }).catch(() => undefined);
  }

  private tell(
    connectionId: string,
    { account, attachment, graceMillis = 0 }: Standing,
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
