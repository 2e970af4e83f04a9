import type { Pool } from 'pg';
import { decodeEvent, isOfAuction } from '../rules/event-versions.js';
import { HistoryTable } from '../shard/histories/history-table.js';
import type { JournalEntry } from '#libs/journal/journal.js';

export interface HistoryCheck {
  /** Auctions that are over of which the owner has kept what they are made of. */
  readonly kept: number;
  /** Those of which the journal says something else; the first of them. */
  readonly wrong: readonly string[];
  /** Those of which the journal does not say that they are over. */
  readonly unknown: number;
}

const COUNT = `
  select count(*)::int as kept from journal.histories
  where shard = $1 and positions[cardinality(positions)] <= $2`;
const MOST_WRONG = 100;

/** Holds what the owner of one shard has written of the auctions that it has forgotten against its journal, page by page as that is read. */
export class HistoryProof {
  private readonly live = new Map<string, number[]>();
  private over: (readonly [auctionId: string, positions: readonly number[]])[] = [];
  private readonly table: HistoryTable;
  private readonly wrong: string[] = [];
  private found = 0;

  constructor(
    private readonly shard: number,
    private readonly pool: Pool,
  ) {
    this.table = new HistoryTable(pool, shard);
  }

  take(entries: readonly JournalEntry[]): void {
    for (const { kind, payload, sequence } of entries) {
      if (kind !== 'event') continue;
      const event = decodeEvent(payload);
      if (!isOfAuction(event)) continue;
      const { auction_id: id, type } = event;
      const positions = this.live.get(id) ?? [];
      positions.push(sequence);
      this.live.set(id, positions);
      if (type !== 'AUCTION_COMPLETED') continue;
      this.live.delete(id);
      this.over.push([id, positions]);
    }
  }

  /** At what is over since the last look. */
  async look(): Promise<void> {
    const over = this.over;
    this.over = [];
    const kept = await Promise.all(over.map(([id]) => this.table.find(id)));
    for (const [index, [id, positions]] of over.entries()) {
      const said = kept[index];
      if (said === undefined) continue;
      this.found += 1;
      if (said.join() !== positions.join() && this.wrong.length < MOST_WRONG) this.wrong.push(id);
    }
  }

  /** The journal was read up to there. What its owner has forgotten since is left for the next time. */
  async end(head: number): Promise<HistoryCheck> {
    const { rows } = await this.pool.query<{ kept: number }>(COUNT, [this.shard, head]);
    const kept = rows[0]?.kept ?? 0;
    return { kept, wrong: this.wrong, unknown: Math.max(0, kept - this.found) };
  }
}

export function isRight({ wrong, unknown }: HistoryCheck): boolean {
  return wrong.length === 0 && unknown === 0;
}
