import type { AuctionFile } from './auction-file.js';
import type { PlacedEvent } from './raw-events.js';
import { must } from './violation.js';

const LIMIT = 'as many auctions as there may be, and no fewer';

/** Counts by shard the auctions that are not over: a create is refused for their number when there are so many, and opens none beyond. */
export class LiveAuctions {
  private readonly live: readonly Set<string>[] = [new Set(), new Set(), new Set()];

  constructor(private readonly limit: number) {}

  /** In the order of its journal, in which its owner decides. `file` already includes the event. */
  take({ shard, sequence, event: { type, data } }: PlacedEvent, file: AuctionFile | undefined): void {
    const live = this.live[shard];
    if (live === undefined) throw new RangeError(`there is no shard ${shard}`);
    const what = (): string => `${type} ${sequence} of shard ${shard}, where ${live.size} are live`;
    if (type === 'CREATE_REJECTED' && data.error === 'ACTIVE_AUCTION_LIMIT')
      must(live.size >= this.limit, LIMIT, what);
    if (file === undefined) return;
    if (type === 'AUCTION_OPENED') must(live.size < this.limit, LIMIT, what);
    if (file.stage === 'COMPLETED') live.delete(file.id);
    else live.add(file.id);
  }
}
