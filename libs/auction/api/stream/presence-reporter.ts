import type { ConnectionClaim, ConnectionEnd, OwnerRequest } from '../../protocol/protocol.js';
import type { LinkReply } from '#libs/link/link-protocol.js';
import { repeat, type Cancel, type Clock } from '#libs/platform/time/clock.js';
import type { WatchedConnection, Presence } from '../../stream/ports.js';

type PresenceRequest = Extract<OwnerRequest, { op: 'presence' }>;

export interface PresencePorts {
  /** Names this life of this gateway. */
  readonly gateway: string;
  readonly shards: readonly number[];
  readonly ask: (shard: number, request: OwnerRequest) => Promise<LinkReply>;
  readonly clock: Clock;
}

/** What one owner has still to be told. */
interface Lane {
  readonly here: Map<string, ConnectionClaim>;
  gone: ConnectionEnd[];
  /** The owner may not know all that is here, so it is told all of it. */
  isWhole: boolean;
}

/** Owners take a gateway for dead after 2.5 s without a word. */
const BEAT_MILLIS = 500;

/**
 * Tells every owner whose connections are here, renews the lease for them, and tells when they end. Messages to one owner
 * leave in order and at once, so that a connection is known before its first quote; what an owner did not confirm is said
 * again, all of it.
 */
export class PresenceReporter implements Presence {
  private readonly claims = new Map<string, ConnectionClaim>();
  private readonly lanes: ReadonlyMap<number, Lane>;
  private cancel: Cancel = () => undefined;

  constructor(private readonly ports: PresencePorts) {
    this.lanes = new Map(ports.shards.map((shard) => [shard, { here: new Map(), gone: [], isWhole: true }]));
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

  here(standing: WatchedConnection): void {
    const claim = claimOf(standing);
    this.claims.set(claim.connection_id, claim);
    for (const [shard, lane] of this.lanes) {
      lane.here.set(claim.connection_id, claim);
      this.tell(shard, lane);
    }
  }

  gone({ connectionId, attachment }: WatchedConnection, how: 'BYE' | 'LOST'): void {
    const claim = this.claims.get(connectionId);
    // Either nobody watches over it, or a later socket has gone on with it here.
    if (claim?.attachment !== attachment) return;
    this.claims.delete(connectionId);
    for (const [shard, lane] of this.lanes) {
      lane.here.delete(connectionId);
      lane.gone.push({ connection_id: connectionId, attachment, how });
      this.tell(shard, lane);
    }
  }

  /** While nobody is here there is nothing to renew; the next one begins with the whole again. */
  private beat(): void {
    for (const [shard, lane] of this.lanes) {
      if (this.claims.size > 0 || lane.gone.length > 0) this.tell(shard, lane);
      else lane.isWhole = true;
    }
  }

  private tell(shard: number, lane: Lane): void {
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
      // It does not know this gateway, and it is there: the quotes of those who are here depend on it.
      if (status === 409) this.tell(shard, lane);
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
