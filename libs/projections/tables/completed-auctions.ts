import type { ClientBase } from 'pg';
import type { AuctionState } from '#libs/auction/state.js';
import { completionFor, type Viewer } from '#libs/auction/viewer.js';
import type { FoldedAuction } from '../folded-auction.js';
import type { Schemas } from '../schemas.js';
import { storedInstant } from '../stored-instant.js';

export interface OverFor {
  readonly viewer: Viewer;
  readonly state: AuctionState;
}

/** Auctions that are over for somebody, and for whom. Views are made of the state when they are read. */
export class CompletedTables {
  private readonly auctions: string;
  private readonly viewers: string;

  constructor({ completed }: Schemas) {
    this.auctions = `${completed}.auctions`;
    this.viewers = `${completed}.viewers`;
  }

  async put(client: ClientBase, shard: number, auctions: readonly FoldedAuction[]): Promise<void> {
    if (auctions.length === 0) return;
    const states = auctions.map(({ state }) => state);
    await client.query({
      name: `${this.auctions}-put`,
      text: `
        insert into ${this.auctions} (auction_id, opened_at, completed_at, sequence, events, shard, status, state)
        select auction_id, opened_at, completed_at, sequence, events, $1, status, state
        from unnest($2::uuid[], $3::bigint[], $4::bigint[], $5::bigint[], $6::integer[], $7::text[], $8::text[])
          as row (auction_id, opened_at, completed_at, sequence, events, status, state)
        on conflict (auction_id) do update
          set completed_at = excluded.completed_at, sequence = excluded.sequence, events = excluded.events,
            status = excluded.status, state = excluded.state`,
      values: [
        shard,
        states.map(({ terms }) => terms.auction_id),
        states.map(({ terms }) => storedInstant(terms.opened_at)),
        states.map(({ completed_at: at }) => (at === undefined ? null : storedInstant(at))),
        auctions.map(({ sequence }) => sequence),
        auctions.map(({ events }) => events),
        states.map(({ status }) => status),
        states.map((state) => JSON.stringify(state)),
      ],
    });
  }

  async admit(client: ClientBase, over: readonly OverFor[]): Promise<void> {
    if (over.length === 0) return;
    await client.query({
      name: `${this.viewers}-admit`,
      text: `
        insert into ${this.viewers} (viewer_id, auction_id, opened_at, completed_at, is_originator)
        select * from unnest($1::uuid[], $2::uuid[], $3::bigint[], $4::bigint[], $5::boolean[])`,
      values: [
        over.map(({ viewer }) => viewer.account_id),
        over.map(({ state }) => state.terms.auction_id),
        over.map(({ state }) => storedInstant(state.terms.opened_at)),
        over.map(({ viewer, state }) => completionOf(state, viewer)),
        over.map(({ viewer }) => viewer.role === 'ORIGINATOR'),
      ],
    });
  }
}

function completionOf(state: AuctionState, viewer: Viewer): string {
  const completedAt = completionFor(state, viewer);
  if (completedAt === undefined)
    throw new Error(`auction ${state.terms.auction_id} is not over for its viewer`);
  return storedInstant(completedAt);
}
