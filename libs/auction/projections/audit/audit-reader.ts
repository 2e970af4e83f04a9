import type { Pool } from 'pg';
import type { AuctionEvent } from '../../rules/events.js';
import { type Instant, instantFromNanos } from '#libs/base/instant.js';
import type { AuctionState, AuctionStatus } from '../../rules/state.js';
import { decodeEvent } from '../../rules/event-versions.js';
import type { ChainedEvent } from '../../rules/audit/audit.js';
import { fold, type FoldedAuction } from '../folded-auction.js';
import type { AuctionMark } from '../reader/auction-reader.js';
import { BEFORE_ALL, storedInstant } from '../tables/answers.js';

/** A page, and one more row that shows whether another page follows. */
const MOST_ROWS = 51;

/**
 * The predicate matches the index word for word. The limit is a literal, because the planner would otherwise expect a tenth of
 * the table. Ordered by the columns, not by the texts that are returned.
 */
export const LIST = `
  select auction_id, status, auction.opened_at::text, auction.completed_at::text from completed.auctions auction
  where completed_at is not null and (opened_at, auction_id) < ($1::bigint, $2::uuid)
  order by auction.opened_at desc, auction.auction_id desc limit ${MOST_ROWS}`;

export const COMPLETED = `
  select shard, status, sequence, events, completed_at::text from completed.auctions
  where auction_id = $1 and completed_at is not null`;

export const RECORDS = `
  select sequence, payload, encode(hash, 'hex') as hash from auction_history.events
  where auction_id = $1 order by sequence`;

export interface AuditRow {
  readonly auction_id: string;
  readonly status: AuctionStatus;
  readonly opened_at: Instant;
  readonly completed_at: Instant;
}

/** A record as the projection has it. */
export interface ProjectedRecord {
  readonly sequence: number;
  readonly payload: string;
  readonly hash: string;
}

/** A completed auction with its history, which was checked to be complete. */
export interface AuditedAuction {
  readonly shard: number;
  readonly state: AuctionState;
  readonly records: readonly ProjectedRecord[];
  readonly events: readonly ChainedEvent[];
}

interface CompletedRow {
  readonly shard: number;
  readonly status: AuctionStatus;
  readonly sequence: number;
  readonly events: number;
  readonly completed_at: string;
}

/** Reads completed auctions for auditors, regardless of who took part. */
export class AuditReader {
  constructor(private readonly pool: Pool) {}

  /** Newest first by opening time, like all other lists. At most 51 rows. */
  async page(limit: number, before?: AuctionMark): Promise<AuditRow[]> {
    const cursor = before === undefined ? BEFORE_ALL : { at: storedInstant(before.o), id: before.i };
    const { rows } = await this.pool.query<AuditRow>({
      name: 'audit-page',
      text: LIST,
      values: [cursor.at, cursor.id],
    });
    return rows.slice(0, limit).map((row) => ({
      ...row,
      opened_at: instantFromNanos(BigInt(row.opened_at)),
      completed_at: instantFromNanos(BigInt(row.completed_at)),
    }));
  }

  async auction(auctionId: string): Promise<AuditedAuction | 'incomplete' | undefined> {
    const { rows } = await this.pool.query<CompletedRow>({
      name: 'audit-auction',
      text: COMPLETED,
      values: [auctionId],
    });
    const [completed] = rows;
    if (completed === undefined) return undefined;
    const records = await this.records(auctionId);
    const rebuilt = rebuild(records);
    if (rebuilt === undefined || !isWhole(completed, rebuilt.folded)) return 'incomplete';
    return { shard: completed.shard, state: rebuilt.folded.state, records, events: rebuilt.events };
  }

  private async records(auctionId: string): Promise<readonly ProjectedRecord[]> {
    const { rows } = await this.pool.query<ProjectedRecord>({
      name: 'audit-records',
      text: RECORDS,
      values: [auctionId],
    });
    return rows;
  }
}

function chainedEvent({ sequence, payload, hash }: ProjectedRecord): ChainedEvent {
  return { position: sequence, event: decodeEvent(payload) as AuctionEvent, hash };
}

interface Rebuilt {
  readonly events: readonly ChainedEvent[];
  readonly folded: FoldedAuction;
}

/** Undefined if the rules cannot read the records. They then count as missing. */
function rebuild(records: readonly ProjectedRecord[]): Rebuilt | undefined {
  try {
    const events = records.map(chainedEvent);
    const folded = events.reduce<FoldedAuction | undefined>(
      (before, placed) => fold(before, placed),
      undefined,
    );
    return folded === undefined ? undefined : { events, folded };
  } catch {
    return undefined;
  }
}

/** Whether the history has as many events as the stored state, the same last event, and the same end. */
function isWhole(completed: CompletedRow, { state, events, sequence }: FoldedAuction): boolean {
  return (
    events === completed.events &&
    sequence === completed.sequence &&
    state.status === completed.status &&
    state.completed_at !== undefined &&
    storedInstant(state.completed_at) === completed.completed_at
  );
}
