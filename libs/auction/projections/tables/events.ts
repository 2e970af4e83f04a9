import type { ClientBase } from 'pg';
import type { AuctionEvent } from '../../rules/events.js';
import { decodeEvent } from '../../rules/event-versions.js';
import { fold, type FoldedAuction } from '../folded-auction.js';
import type { JournaledAuctionEvent } from '../decoded-batch.js';
import type { SchemaOf } from '#libs/projecting/projection.js';
import { hashes, instants, integers, texts } from './completed-auctions.js';

interface HistoryRow {
  readonly auction_id: string;
  readonly sequence: number;
  readonly payload: string;
}

/** Every event of every auction as the journal has it. */
export class EventsTable {
  private readonly table: string;

  constructor(schemaOf: SchemaOf) {
    this.table = `${schemaOf('auction_history')}.events`;
  }

  async insert(client: ClientBase, shard: number, events: readonly JournaledAuctionEvent[]): Promise<void> {
    if (events.length === 0) return;
    await client.query({
      name: `${this.table}-insert`,
      text: `
        insert into ${this.table}
          (auction_id, sequence, occurred_at, shard, version, type, command_key, hash, payload)
        select auction_id::uuid, sequence, occurred_at, $1, version::smallint, type, command_key, hash, payload
        from unnest($2::text[], $3::bigint[], $4::bigint[], $5::bigint[], $6::text[], $7::text[], $8::bytea[], $9::text[])
          as row (auction_id, sequence, occurred_at, version, type, command_key, hash, payload)`,
      values: [
        shard,
        texts(events.map(({ event }) => event.auction_id)),
        integers(events.map(({ entry }) => entry.sequence)),
        instants(events.map(({ event }) => event.at)),
        integers(events.map(({ event }) => event.version)),
        texts(events.map(({ event }) => event.type)),
        texts(events.map(({ event }) => event.command?.key ?? null)),
        hashes(events.map(({ entry }) => entry.hash)),
        texts(events.map(({ entry }) => entry.payload)),
      ],
    });
  }

  /**
   * The auctions, built from their stored events. Not a prepared statement, because a plan from the time when the table was small
   * would be kept far too long.
   */
  async fold(client: ClientBase, auctionIds: readonly string[]): Promise<Map<string, FoldedAuction>> {
    const auctions = new Map<string, FoldedAuction>();
    if (auctionIds.length === 0) return auctions;
    const { rows } = await client.query<HistoryRow>(
      `select auction_id, sequence, payload from ${this.table}
       where auction_id = any($1::uuid[]) order by auction_id, sequence`,
      [auctionIds],
    );
    for (const { auction_id: id, sequence, payload } of rows) {
      const placed = { position: sequence, event: decodeEvent(payload) as AuctionEvent };
      auctions.set(id, fold(auctions.get(id), placed));
    }
    return auctions;
  }
}
