import { NANOS_PER_MILLI } from '#libs/base/instant.js';
import type { LinkReply } from '#libs/link/link-protocol.js';
import { pause, repeat, type Cancel, type Clock } from '#libs/platform/time/clock.js';
import type { OpenSocketCount, GatewayPresence, TraderRequest } from '../../protocol/cell-protocol.js';
import { fromWire } from '../../protocol/wire.js';
import type { AttachedConnection, BegunConnection, ConnectionPresence } from '../../stream/presence.js';

type OpenConnection = GatewayPresence['here'][number];
type ConnectionRequest = Extract<TraderRequest, { op: 'connection' }>;

export interface ConnectionTellerPorts {
  /** Fails, or returns a status other than 200, if the cell did not get the report. */
  readonly ask: (user: string, request: ConnectionRequest) => Promise<LinkReply>;
  /** Names this run of this gateway. */
  readonly gateway: string;
  readonly cells: number;
  readonly cellOf: (user: string) => number;
  readonly sockets: { counts(): Iterable<OpenSocketCount> };
  readonly askCell: (cell: number, request: GatewayPresence) => Promise<LinkReply>;
  readonly newRequestId: () => string;
  readonly clock: Clock;
}

const RETRY_MILLIS = 250;
/** Cells take a gateway for dead after 5 s without a beat. */
const BEAT_MILLIS = 1_000;

/** A change of a connection that its cell must learn. Only the latest counts. */
interface ConnectionChange {
  readonly how: ConnectionRequest['how'];
  readonly graceMillis: number;
  readonly attachment: number;
  readonly since: bigint;
}

/** Reports changes of connections to cells, in order and until they are acknowledged. A grace counts from the loss, not the report. */
export class ConnectionTeller implements ConnectionPresence {
  private readonly changes = new Map<string, ConnectionChange>();
  private readonly open = new Map<string, BegunConnection>();
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
    if (graceMillis === undefined) this.open.delete(connectionId);
    else this.open.set(connectionId, connection);
    // Without cancel on disconnect the orders stay, even if an earlier socket had asked for it.
    if (isResumed) this.report(connection, graceMillis === undefined ? 'BYE' : 'RESUMED');
    // Sent before the first order, so that the cell knows the grace.
    else if (graceMillis !== undefined) {
      void this.sendPresence(this.ports.cellOf(connection.account), { here: [openConnectionOf(connection)] });
    }
  }

  ended({ connectionId, attachment }: AttachedConnection, how: 'BYE' | 'LOST'): void {
    const known = this.open.get(connectionId);
    if (known?.attachment !== attachment) return;
    this.open.delete(connectionId);
    this.report(known, how);
  }

  private beat(): void {
    const { cells, cellOf, sockets } = this.ports;
    const beats = Array.from(
      { length: cells },
      (): { sockets: OpenSocketCount[]; here: OpenConnection[] } => ({
        ...{ sockets: [], here: [] },
      }),
    );
    for (const count of sockets.counts()) beats[cellOf(count.user_id)]?.sockets.push(count);
    for (const connection of this.open.values())
      beats[cellOf(connection.account)]?.here.push(openConnectionOf(connection));
    for (const [cell, beat] of beats.entries()) void this.sendPresence(cell, beat);
  }

  /** A message that fails is replaced by the next beat. */
  private async sendPresence(
    cell: number,
    presence: Pick<GatewayPresence, 'here' | 'sockets'>,
  ): Promise<void> {
    const { askCell, gateway } = this.ports;
    try {
      const { status, body } = await askCell(cell, { op: 'presence', gateway, ...presence });
      const lapsed = status === 200 ? lapsedIn(fromWire(body)) : [];
      for (const { connection_id, attachment } of presence.here) {
        const known = this.open.get(connection_id);
        if (lapsed.includes(connection_id) && known?.attachment === attachment) known.onLapsed();
      }
    } catch {
      return;
    }
  }

  private report(
    { connectionId, account, attachment, graceMillis = 0 }: BegunConnection,
    how: ConnectionChange['how'],
  ): void {
    const isReporting = this.changes.has(connectionId);
    this.changes.set(connectionId, {
      how,
      graceMillis,
      attachment,
      since: this.ports.clock.monotonicNanos(),
    });
    if (!isReporting) void this.reportUntilKnown(connectionId, account);
  }

  private async reportUntilKnown(connectionId: string, account: string): Promise<void> {
    for (;;) {
      const change = this.changes.get(connectionId);
      if (change === undefined) return;
      const isReported = await this.reportOnce(connectionId, account, change);
      if (isReported && this.changes.get(connectionId) === change) this.changes.delete(connectionId);
      else if (!isReported) await pause(this.ports.clock, RETRY_MILLIS);
    }
  }

  private async reportOnce(
    connection_id: string,
    user_id: string,
    { how, graceMillis, attachment, since }: ConnectionChange,
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

function openConnectionOf({ connectionId, graceMillis = 0, attachment }: BegunConnection): OpenConnection {
  return { connection_id: connectionId, grace_ms: graceMillis, attachment };
}

function lapsedIn(body: unknown): readonly unknown[] {
  return typeof body === 'object' && body !== null && 'lapsed' in body && Array.isArray(body.lapsed)
    ? body.lapsed
    : [];
}
