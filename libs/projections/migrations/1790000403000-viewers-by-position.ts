import type { MigrationInterface } from 'typeorm';
import type { AuctionEvent } from '#libs/auction/events.js';
import { decodeEvent } from '#libs/auction/upcasters.js';
import { fold, newlyOverFor, type FoldedAuction } from '../folded-auction.js';

const BATCH = 500;
const BEFORE_ALL_IDS = '00000000-0000-0000-0000-000000000000';

/** What of a QueryRunner is used here. */
export interface Runner {
  query(text: string, values?: unknown[]): Promise<unknown>;
}

interface EventRow {
  readonly auction_id: string;
  readonly sequence: number | string;
  readonly payload: string;
}

/**
 * With which record of which shard an auction became over for each of its viewers: streams that go on after a long while find
 * by it what ended meanwhile. Rows that are there already get it from the history, as the projector would have written it.
 */
export class ViewersByPosition1790000403000 implements MigrationInterface {
  async up(runner: Runner): Promise<void> {
    await runner.query('alter table completed.viewers add column shard smallint, add column sequence bigint');
    let last: string | undefined = BEFORE_ALL_IDS;
    while (last !== undefined) last = await this.fillBehind(runner, last);
    await runner.query(
      'alter table completed.viewers alter column shard set not null, alter column sequence set not null',
    );
    await runner.query('create index on completed.viewers (viewer_id, shard, sequence)');
  }

  async down(runner: Runner): Promise<void> {
    await runner.query('drop index completed.viewers_viewer_id_shard_sequence_idx');
    await runner.query('alter table completed.viewers drop column sequence, drop column shard');
  }

  /** Gives the last auction of those that it has filled in, and nothing when there was none. */
  private async fillBehind(runner: Runner, id: string): Promise<string | undefined> {
    const auctions = (await runner.query(
      'select auction_id from completed.auctions where auction_id > $1 order by auction_id limit $2',
      [id, BATCH],
    )) as { readonly auction_id: string }[];
    const ids = auctions.map(({ auction_id: each }) => each);
    if (ids.length === 0) return undefined;
    const events = (await runner.query(
      `select auction_id, sequence, payload from execution.events
       where auction_id = any($1::uuid[]) order by auction_id, sequence`,
      [ids],
    )) as EventRow[];
    const found = endsIn(events);
    await runner.query(
      `update completed.viewers viewer set shard = left(viewer.auction_id::text, 1)::smallint, sequence = found.sequence
       from unnest($1::uuid[], $2::uuid[], $3::bigint[]) as found (auction_id, viewer_id, sequence)
       where viewer.auction_id = found.auction_id and viewer.viewer_id = found.viewer_id`,
      [
        found.map(({ id: each }) => each),
        found.map(({ viewer }) => viewer),
        found.map(({ sequence }) => sequence),
      ],
    );
    return ids.at(-1);
  }
}

function endsIn(events: readonly EventRow[]): { id: string; viewer: string; sequence: number }[] {
  const auctions = new Map<string, FoldedAuction>();
  return events.flatMap(({ auction_id: id, sequence: stored, payload }) => {
    const sequence = Number(stored);
    const before = auctions.get(id);
    const after = fold(before, { position: sequence, event: decodeEvent(payload) as AuctionEvent });
    auctions.set(id, after);
    return newlyOverFor(before?.state, after.state).map(({ account_id: viewer }) => ({
      id,
      viewer,
      sequence,
    }));
  });
}
