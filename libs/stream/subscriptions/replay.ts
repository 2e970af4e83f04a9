import type { FeedEvent } from '../feed/change.js';
import type { Feed } from '../feed/feed.js';

export interface ReplayPorts {
  readonly feed: Feed;
  readonly account: string;
  readonly hasRoom: () => boolean;
  /** False when nothing more is to be told here. */
  readonly tell: (shard: number, event: FeedEvent) => boolean;
}

/**
 * What a resumed connection has missed, told no faster than it is read: until the end is reached it hears of nothing else.
 * The lane comes first and whole, because the client may hold some of it already.
 */
export class Replay {
  /** By shard, up to where everything has been told. */
  readonly cursors: number[];
  private readonly order: readonly number[];

  constructor(
    private readonly ports: ReplayPorts,
    positions: readonly number[],
    lane: number,
  ) {
    this.cursors = [...positions];
    this.order = [...positions.keys()].sort((one, other) => rankOf(one, lane) - rankOf(other, lane));
  }

  /** `LOST`: the history has gone on without the reader. */
  goOn(): 'DONE' | 'WAITING' | 'LOST' | 'STOPPED' {
    const { feed, account, hasRoom, tell } = this.ports;
    for (const shard of this.order) {
      const from = this.cursors[shard] ?? 0;
      if (!feed.reaches(shard, from)) return 'LOST';
      let position = from;
      for (const event of feed.since(account, shard, from)) {
        if (event.position !== position) {
          this.cursors[shard] = position;
          if (!hasRoom()) return 'WAITING';
          position = event.position;
        }
        if (!tell(shard, event)) return 'STOPPED';
      }
      this.cursors[shard] = feed.positions()[shard] ?? 0;
    }
    return 'DONE';
  }
}

function rankOf(shard: number, lane: number): number {
  return shard === lane ? -1 : shard;
}
