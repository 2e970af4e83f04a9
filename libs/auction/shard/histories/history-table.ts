import type { Pool } from 'pg';
import { Batcher } from '#libs/platform/database/batcher.js';

/** An auction that is over, by the places of all its events in the journal of its shard, in order. */
export interface AuctionHistory {
  readonly auctionId: string;
  readonly positions: readonly number[];
}

/** How many are written or looked up together at most. */
const MOST = 500;

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

/** The histories of the auctions that one shard has forgotten: its owner's word, which no projection can take back. */
export class HistoryTable {
  private readonly asked = new Batcher((auctionIds: readonly string[]) => this.look(auctionIds), MOST);

  constructor(
    private readonly pool: Pick<Pool, 'query'>,
    private readonly shard: number,
  ) {}

  /** Once they are kept they may be forgotten. Each is said once: what is kept already stays. */
  async keep(histories: readonly AuctionHistory[]): Promise<void> {
    for (let from = 0; from < histories.length; from += MOST) {
      const some = histories.slice(from, from + MOST);
      await this.pool.query({
        name: 'histories-keep',
        text: KEEP,
        values: [
          this.shard,
          some.map(({ auctionId }) => auctionId),
          some.map(({ positions }) => `{${positions.join(',')}}`),
        ],
      });
    }
  }

  /** Undefined where the shard has never forgotten such an auction. */
  find(auctionId: string): Promise<readonly number[] | undefined> {
    return this.asked.answer(auctionId);
  }

  private async look(auctionIds: readonly string[]): Promise<(readonly number[] | undefined)[]> {
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
