import type { Pool } from 'pg';
import type { AuctionEvent, Placed } from '../../rules/events.js';
import type { HistoryPart, HistoryStore, WantedHistories } from '../../protocol/histories.js';
import { type EventRow, placed } from './timeline-reader.js';
import { auctionOffsets } from '../projection.js';

/** How many auctions are looked up at once, how many of them are read together, and how many events of each. */
export const HISTORY_READS = { auctions: 256, together: 16, events: 200 } as const;

const HAPPENED = 'select from auction_history.events event where event.auction_id =';

/** Uses its own index, in the order in which the auctions ended for the account. */
export const ENDED = `
  select auction_id, sequence from completed.viewers viewer
  where viewer_id = $1 and shard = $2 and sequence > $3
    and exists (${HAPPENED} viewer.auction_id and event.sequence > $4 and event.sequence <= $5)
  order by sequence limit ${HISTORY_READS.auctions}`;

export const TOUCHED = `
  select id as auction_id from unnest($1::uuid[]) wanted (id)
  where exists (${HAPPENED} wanted.id and event.sequence > $2 and event.sequence <= $3)`;

export const PARTS = `
  select event.auction_id, event.sequence, event.payload from unnest($1::uuid[]) wanted (id)
  cross join lateral (
    select auction_id, sequence, payload from auction_history.events
    where auction_id = wanted.id and sequence > $2 and sequence <= $3 order by sequence limit ${HISTORY_READS.events}
  ) event`;

interface EndedRow {
  readonly auction_id: string;
  readonly sequence: number;
}

type PartRow = EventRow & Pick<EndedRow, 'auction_id'>;

/** Reads the histories of an account's own auctions, and no others. */
export class PostgresHistoryStore implements HistoryStore {
  constructor(private readonly pool: Pool) {}

  /** The journal position of the shard up to which the store is written. */
  position(shard: number): Promise<number> {
    return auctionOffsets.position(this.pool, shard);
  }

  async *histories(wanted: WantedHistories): AsyncGenerator<HistoryPart> {
    const others = new Set(wanted.others);
    for (const ids of partsOf([...others], HISTORY_READS.auctions)) {
      yield* this.all(await this.touched(ids, wanted), wanted.upTo);
    }
    for (let from = wanted.openAt; ;) {
      const rows = await this.ended(from, wanted);
      yield* this.all(
        rows.map(({ auction_id: id }) => id).filter((id) => !others.has(id)),
        wanted.upTo,
      );
      const last = rows.at(-1);
      if (last === undefined || rows.length < HISTORY_READS.auctions) return;
      from = last.sequence;
    }
  }

  private async *all(ids: readonly string[], upTo: () => number): AsyncGenerator<HistoryPart> {
    for (const batch of partsOf(ids, HISTORY_READS.together)) {
      for (const part of await this.parts(batch, 0, upTo())) {
        yield part;
        yield* this.remainder(part, upTo);
      }
    }
  }

  private async *remainder(
    { auctionId, events }: HistoryPart,
    upTo: () => number,
  ): AsyncGenerator<HistoryPart> {
    let [count, last] = [events.length, events.at(-1)?.position ?? 0];
    while (count === HISTORY_READS.events) {
      const [next] = await this.parts([auctionId], last, upTo());
      if (next === undefined) return;
      yield next;
      [count, last] = [next.events.length, next.events.at(-1)?.position ?? last];
    }
  }

  private async ended(
    from: number,
    { account, shard, happenedBehind, upTo }: WantedHistories,
  ): Promise<EndedRow[]> {
    const values = [account, shard, from, happenedBehind, upTo()];
    const { rows } = await this.pool.query<EndedRow>({ name: 'chronicle-ended', text: ENDED, values });
    return rows;
  }

  private async touched(
    ids: readonly string[],
    { happenedBehind, upTo }: WantedHistories,
  ): Promise<readonly string[]> {
    const values = [ids, happenedBehind, upTo()];
    const { rows } = await this.pool.query<EndedRow>({ name: 'chronicle-touched', text: TOUCHED, values });
    return rows.map(({ auction_id: id }) => id);
  }

  private async parts(ids: readonly string[], after: number, upTo: number): Promise<HistoryPart[]> {
    const values = [ids, after, upTo];
    const { rows } = await this.pool.query<PartRow>({ name: 'chronicle-parts', text: PARTS, values });
    const parts = new Map<string, Placed<AuctionEvent>[]>();
    for (const row of rows) {
      const events = parts.get(row.auction_id) ?? [];
      events.push(placed(row));
      parts.set(row.auction_id, events);
    }
    return [...parts].map(([auctionId, events]) => {
      return { auctionId, events: events.sort((one, other) => one.position - other.position) };
    });
  }
}

function partsOf(ids: readonly string[], size: number): string[][] {
  return Array.from({ length: Math.ceil(ids.length / size) }, (_, index) =>
    ids.slice(index * size, (index + 1) * size),
  );
}
