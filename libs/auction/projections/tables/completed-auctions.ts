import type { ClientBase } from 'pg';
import { type Instant, nanosFromInstant } from '#libs/base/instant.js';
import type { AuctionState } from '../../rules/state.js';
import { completionFor, type Viewer } from '../../rules/told/viewer.js';
import type { FoldedAuction } from '../folded-auction.js';
import type { SchemaOf } from '#libs/projecting/projection.js';
import { BIGINT, binaryArray, BYTEA, TEXT } from '#libs/platform/database/binary-array.js';

export interface OverFor {
  readonly viewer: Viewer;
  readonly state: AuctionState;
  /** Position of the event with which it became over. */
  readonly sequence: number;
}

/** Auctions that are over for at least one party, and those parties. Views are made from the state when they are read. */
export class CompletedTables {
  private readonly auctions: string;
  private readonly viewers: string;

  constructor(schemaOf: SchemaOf) {
    this.auctions = `${schemaOf('completed')}.auctions`;
    this.viewers = `${schemaOf('completed')}.viewers`;
  }

  async put(client: ClientBase, shard: number, auctions: readonly FoldedAuction[]): Promise<void> {
    if (auctions.length === 0) return;
    const states = auctions.map(({ state }) => state);
    await client.query({
      name: `${this.auctions}-put`,
      text: `
        insert into ${this.auctions} (auction_id, opened_at, completed_at, sequence, events, shard, status, state)
        select auction_id::uuid, opened_at, completed_at, sequence, events::integer, $1, status, state
        from unnest($2::text[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::text[], $8::text[])
          as row (auction_id, opened_at, completed_at, sequence, events, status, state)
        on conflict (auction_id) do update
          set completed_at = excluded.completed_at, sequence = excluded.sequence, events = excluded.events,
            status = excluded.status, state = excluded.state`,
      values: [
        shard,
        texts(states.map(({ terms }) => terms.auction_id)),
        instants(states.map(({ terms }) => terms.opened_at)),
        instants(states.map(({ completed_at: at }) => at)),
        integers(auctions.map(({ sequence }) => sequence)),
        integers(auctions.map(({ events }) => events)),
        texts(states.map(({ status }) => status)),
        texts(states.map((state) => JSON.stringify(state))),
      ],
    });
  }

  async admit(client: ClientBase, shard: number, over: readonly OverFor[]): Promise<void> {
    if (over.length === 0) return;
    await client.query({
      name: `${this.viewers}-admit`,
      text: `
        insert into ${this.viewers} (viewer_id, auction_id, opened_at, completed_at, is_originator, shard, sequence)
        select viewer_id::uuid, auction_id::uuid, opened_at, completed_at, role = 'ORIGINATOR', $1, sequence
        from unnest($2::text[], $3::text[], $4::bigint[], $5::bigint[], $6::text[], $7::bigint[])
          as row (viewer_id, auction_id, opened_at, completed_at, role, sequence)`,
      values: [
        shard,
        texts(over.map(({ viewer }) => viewer.account_id)),
        texts(over.map(({ state }) => state.terms.auction_id)),
        instants(over.map(({ state }) => state.terms.opened_at)),
        instants(over.map(({ viewer, state }) => completionOf(state, viewer))),
        texts(over.map(({ viewer }) => viewer.role)),
        integers(over.map(({ sequence }) => sequence)),
      ],
    });
  }
}

function completionOf(state: AuctionState, viewer: Viewer): Instant {
  const completedAt = completionFor(state, viewer);
  if (completedAt === undefined)
    throw new Error(`auction ${state.terms.auction_id} is not over for its viewer`);
  return completedAt;
}

/** Ids are sent as text too. The statement casts them to the type of the column. */
export function texts(values: readonly (string | null)[]): Buffer {
  return binaryArray(TEXT, values);
}

/** For integer columns of any size. The statement casts them. */
export function integers(values: readonly number[]): Buffer {
  return binaryArray(BIGINT, values);
}

export function instants(values: readonly (Instant | undefined)[]): Buffer {
  return binaryArray(
    BIGINT,
    values.map((instant) => (instant === undefined ? null : nanosFromInstant(instant))),
  );
}

export function hashes(values: readonly string[]): Buffer {
  return binaryArray(BYTEA, values);
}
