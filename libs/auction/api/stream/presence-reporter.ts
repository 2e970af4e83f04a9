import type { ConnectionClaim, ConnectionEnd, OwnerRequest } from '../../protocol/protocol.js';
import type { LinkReply } from '#libs/link/link-protocol.js';
import { repeat, type Cancel, type Clock } from '#libs/platform/time/clock.js';
import type { WatchedConnection, Presence } from '../../stream/ports.js';

type PresenceRequest = Extract<OwnerRequest, { op: 'presence' }>;

export interface PresencePorts {
  /** Identifies this run of this gateway. */
  readonly gateway: string;
  readonly shards: readonly number[];
  readonly ask: (shard: number, request: OwnerRequest) => Promise<LinkReply>;
  readonly clock: Clock;
}

/** What one owner must still be sent. */
interface PendingReport {
  readonly here: Map<string, ConnectionClaim>;
  gone: ConnectionEnd[];
  /** The owner may not know all connections, so the next report is complete. */
  isWhole: boolean;
}

/** Owners take a gateway for dead after 2.5 s without a report. */
const BEAT_MILLIS = 500;

/**
 * Reports to every owner which connections are here, renews their lease, and reports when they end. Reports to one
 * owner leave in order and at once, so a connection is known before its first quote. An unconfirmed report is
 * repeated completely.
 */
export class PresenceReporter implements Presence {
  private readonly claims = new Map<string, ConnectionClaim>();
  private readonly pending: ReadonlyMap<number, PendingReport>;
  private cancel: Cancel = () => undefined;

  constructor(private readonly ports: PresencePorts) {
    this.pending = new Map(
      ports.shards.map((shard) => [shard, { here: new Map(), gone: [], isWhole: true }]),
    );
  }

  start(): void {
    this.cancel = repeat(this.ports.clock, BEAT_MILLIS, () => {
      this.beat();
      return Promise.resolve();
    });
  }

  stop(): void {
    this.cancel();
  }

  here(connection: WatchedConnection): void {
    const claim = claimOf(connection);
    this.claims.set(claim.connection_id, claim);
    for (const [shard, lane] of this.pending) {
      lane.here.set(claim.connection_id, claim);
      this.report(shard, lane);
    }
  }

  gone({ connectionId, attachment }: WatchedConnection, how: 'BYE' | 'LOST'): void {
    const claim = this.claims.get(connectionId);
    // Either it is not watched, or a later socket has resumed it here.
    if (claim?.attachment !== attachment) return;
    this.claims.delete(connectionId);
    for (const [shard, lane] of this.pending) {
      lane.here.delete(connectionId);
      lane.gone.push({ connection_id: connectionId, attachment, how });
      this.report(shard, lane);
    }
  }

  /** Without connections there is nothing to renew; the next report is complete again. */
  private beat(): void {
    for (const [shard, lane] of this.pending) {
      if (this.claims.size > 0 || lane.gone.length > 0) this.report(shard, lane);
      else lane.isWhole = true;
    }
  }

  private report(shard: number, lane: PendingReport): void {
    const request: PresenceRequest = {
      op: 'presence',
      gateway: this.ports.gateway,
      whole: lane.isWhole,
      here: [...(lane.isWhole ? this.claims : lane.here).values()],
      gone: lane.gone,
    };
    lane.here.clear();
    lane.gone = [];
    lane.isWhole = false;
    void this.ports.ask(shard, request).then(({ status }) => {
      if (status === 200) return;
      lane.gone = [...request.gone, ...lane.gone];
      lane.isWhole = true;
      // The owner does not know this gateway, but it runs: the quotes of these connections depend on it.
      if (status === 409) this.report(shard, lane);
    });
  }
}

function claimOf({ connectionId, account, attachment, graceMillis }: WatchedConnection): ConnectionClaim {
  return {
    connection_id: connectionId,
    account,
    attachment,
    ...(graceMillis === undefined ? {} : { grace_ms: graceMillis }),
  };
}
