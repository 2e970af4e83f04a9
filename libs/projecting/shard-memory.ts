import type { FoldedAuction } from '#libs/auction/projections/folded-auction.js';

/**
 * Live auctions as they stood at one position, so that the next batch need not fold them out of their events again. Only a
 * convenience: whatever is not here, or is of another position, is read.
 */
export class ShardMemory {
  private position = 0;
  private readonly auctions = new Map<string, FoldedAuction>();

  constructor(private readonly capacity: number) {}

  /** What is known of the auction at that position of the shard. */
  recall(position: number, auctionId: string): FoldedAuction | undefined {
    return position === this.position ? this.auctions.get(auctionId) : undefined;
  }

  /** A batch has been committed that led from one position to another. */
  move(from: number, to: number, touched: ReadonlyMap<string, FoldedAuction>): void {
    if (from !== this.position) this.auctions.clear();
    this.position = to;
    for (const [id, auction] of touched) {
      this.auctions.delete(id);
      if (auction.state.completed_at === undefined) this.auctions.set(id, auction);
    }
    for (const id of this.auctions.keys()) {
      if (this.auctions.size <= this.capacity) return;
      this.auctions.delete(id);
    }
  }
}
