import type { Pool } from 'pg';
import { Batcher } from '#libs/platform/database/batcher.js';

/** An auction that is over: the journal positions of all its events, in order. */
export interface AuctionHistory {
  readonly auctionId: string;
  readonly positions: readonly number[];
}

/** How many are written or looked up in one statement at most. */
const BATCH_SIZE = 500;

const KEEP = `
  insert into journal.histories (auction_id, shard, positions)
  select auction_id, $1, positions::bigint[] from unnest($2::uuid[], $3::text[]) as history (auction_id, positions)
  on conflict (auction_id) do nothing`;
const FIND = `
  select auction_id, positions::text from journal.histories where shard = $1 and auction_id = any($2::uuid[])`;

interface HistoryRow {
  readonly auction_id: string;
  readonly positions: string;
}

/** The histories of the auctions that one shard has evicted. The owner writes them; no projection can change them. */
export class HistoryTable {
  private readonly lookups = new Batcher(
    (auctionIds: readonly string[]) => this.lookUp(auctionIds),
    BATCH_SIZE,
  );

  constructor(
    private readonly pool: Pick<Pool, 'query'>,
    private readonly shard: number,
  ) {}

  /** The auctions may be evicted once this resolves. A history that is stored already stays as it is. */
  async keep(histories: readonly AuctionHistory[]): Promise<void> {
    for (let from = 0; from < histories.length; from += BATCH_SIZE) {
      const batch = histories.slice(from, from + BATCH_SIZE);
      await this.pool.query({
        name: 'histories-keep',
        text: KEEP,
        values: [
          this.shard,
          batch.map(({ auctionId }) => auctionId),
          batch.map(({ positions }) => `{${positions.join(',')}}`),
        ],
      });
    }
  }

  /** Undefined if the shard never evicted such an auction. */
  find(auctionId: string): Promise<readonly number[] | undefined> {
    return this.lookups.answer(auctionId);
  }

  private async lookUp(auctionIds: readonly string[]): Promise<(readonly number[] | undefined)[]> {
    const { rows } = await this.pool.query<HistoryRow>({
      name: 'histories-find',
      text: FIND,
      values: [this.shard, auctionIds],
    });
    const found = new Map(rows.map((row) => [row.auction_id, row.positions]));
    return auctionIds.map((auctionId) => {
      const positions = found.get(auctionId);
      return positions === undefined ? undefined : positions.slice(1, -1).split(',').map(Number);
    });
  }
}
