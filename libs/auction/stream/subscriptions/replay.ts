import type { FeedEvent } from '../feed/change.js';
import type { HistoryCatchUp } from '../feed/history-catch-up.js';

export interface ReplayPorts {
  readonly history: HistoryCatchUp;
  readonly hasRoom: () => boolean;
  /** False when nothing more may be sent. */
  readonly tell: (shard: number, event: FeedEvent) => boolean;
  /** Whether everything of the shard that must come before other shards is there. */
  readonly isWhole: (shard: number) => boolean;
}

/** A position in a journal after which nothing is in memory. */
export interface Gap {
  readonly shard: number;
  readonly position: number;
}

/**
 * Sends what a resumed connection has missed, no faster than it is read, and nothing else until the end. The
 * tokenless shard comes first and completely, because the client may already have some of it.
 */
export class Replay {
  /** By shard, the position up to which everything was sent. */
  readonly cursors: number[];
  private readonly order: readonly number[];

  constructor(
    private readonly ports: ReplayPorts,
    positions: readonly number[],
    tokenlessShard: number,
  ) {
    this.cursors = [...positions];
    this.order = [...positions.keys()].sort(
      (one, other) => rankOf(one, tokenlessShard) - rankOf(other, tokenlessShard),
    );
  }

  /** Sends as much as possible without waiting. A gap must be recalled first. */
  goOn(): 'DONE' | 'WAITING' | 'NOT_WHOLE' | 'STOPPED' | Gap {
    for (const shard of this.order) {
      const outcome = this.sendShard(shard);
      if (outcome !== 'DONE') return outcome;
      if (!this.ports.isWhole(shard)) return 'NOT_WHOLE';
    }
    return 'DONE';
  }

  /** What is in memory and not sent yet. Undefined where something must be recalled first. */
  *untold(): Generator<string | undefined> {
    for (const shard of this.order) {
      const section = this.ports.history.behind(shard, this.cursors[shard] ?? 0);
      for (const { auctionId, entries } of section?.gains() ?? []) if (entries > 0) yield auctionId;
      if (section?.isLast !== true) yield undefined;
    }
  }

  private sendShard(shard: number): 'DONE' | 'WAITING' | 'STOPPED' | Gap {
    const { history, hasRoom, tell } = this.ports;
    for (;;) {
      let position = this.cursors[shard] ?? 0;
      const section = history.behind(shard, position);
      if (section === undefined) return { shard, position };
      for (const event of section.events()) {
        if (event.position !== position) {
          this.cursors[shard] = position;
          if (!hasRoom()) return 'WAITING';
          position = event.position;
        }
        if (!tell(shard, event)) return 'STOPPED';
      }
      this.cursors[shard] = section.upTo;
      if (section.isLast) return 'DONE';
    }
  }
}

function rankOf(shard: number, tokenlessShard: number): number {
  return shard === tokenlessShard ? -1 : shard;
}
