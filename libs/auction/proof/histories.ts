import type { Pool } from 'pg';
import { decodeEvent, isOfAuction } from '../rules/event-versions.js';
import { HistoryTable } from '../shard/histories/history-table.js';
import type { JournalEntry } from '#libs/journal/journal.js';

export interface HistoryCheck {
  /** Number of stored histories of auctions that are over. */
  readonly kept: number;
  /** Histories that differ from the journal; the first of them. */
  readonly wrong: readonly string[];
  /** Number of histories of auctions that are not over according to the journal. */
  readonly unknown: number;
}

const COUNT = `
  select count(*)::int as kept from journal.histories
  where shard = $1 and positions[cardinality(positions)] <= $2`;
const MOST_WRONG = 100;

/** Compares the stored histories of one shard's evicted auctions with its journal, page by page as it is read. */
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

  /** Checks the auctions that have ended since the last call. */
  async look(): Promise<void> {
    const over = this.over;
    this.over = [];
    const kept = await Promise.all(over.map(([id]) => this.table.find(id)));
    for (const [index, [id, positions]] of over.entries()) {
      const stored = kept[index];
      if (stored === undefined) continue;
      this.found += 1;
      if (stored.join() !== positions.join() && this.wrong.length < MOST_WRONG) this.wrong.push(id);
    }
  }

  /** Call after the journal was read up to `head`. Histories that were stored later are left for the next run. */
  async end(head: number): Promise<HistoryCheck> {
    const { rows } = await this.pool.query<{ kept: number }>(COUNT, [this.shard, head]);
    const kept = rows[0]?.kept ?? 0;
    return { kept, wrong: this.wrong, unknown: Math.max(0, kept - this.found) };
  }
}

export function isRight({ wrong, unknown }: HistoryCheck): boolean {
  return wrong.length === 0 && unknown === 0;
}
