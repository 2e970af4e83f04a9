import type { Pool, QueryConfig, QueryResultRow } from 'pg';
import { checkNext, checkRun, isPresent, type StoredRecord } from '../chain-check.js';
import { BEFORE_FIRST } from '../hash-chain.js';
import type { BareReader, JournalEntry, JournalHead, UncheckedRecord } from '../journal.js';
import { JournalCorrupt, JournalUnreadable, messageOf } from '../journal-errors.js';
import { RECORD_COLUMNS } from './statements.js';

/**
 * The records of a range, and the first one behind it. Both bounds are given because without statistics the planner sorts
 * everything behind a lower bound, page after page; the record behind tells the end of the shard from a gap.
 */
const RUN = `
  (select ${RECORD_COLUMNS} from journal.records
   where shard = $1 and sequence >= $2 and sequence < $3 order by sequence)
  union all
  (select ${RECORD_COLUMNS} from journal.records
   where shard = $1 and sequence >= $3 order by sequence limit 1)
  order by sequence`;

/** Each record with what the one before it says, which is all that checking it needs. */
const POINTS = `
  select record.sequence, record.epoch, record.kind, record.payload, encode(record.hash, 'hex') as hash, record.seal,
    before.epoch as epoch_before, encode(before.hash, 'hex') as hash_before
  from unnest($2::bigint[]) with ordinality as wanted (sequence, place)
  join journal.records record on record.shard = $1 and record.sequence = wanted.sequence
  left join journal.records before on before.shard = $1 and before.sequence = wanted.sequence - 1
  order by wanted.place`;

const UNCHECKED = `select ${RECORD_COLUMNS} from journal.records where shard = $1 and sequence >= $2 order by sequence limit $3`;

const HEADS = `
  select shards.shard, last.sequence from journal.shards
  cross join lateral (
    select sequence from journal.records where shard = shards.shard order by sequence desc limit 1
  ) last`;

type Point = StoredRecord & { readonly epoch_before: number | null; readonly hash_before: string | null };

/**
 * None of these statements has a name: a plan that was kept from when the table was small would scan all of it, until the
 * statistics are next renewed.
 */
export class PostgresJournalReader implements BareReader {
  constructor(private readonly pool: Pool) {}

  async read(shard: number, fromSequence: number, limit: number): Promise<JournalEntry[]> {
    // The record before the first comes along: the chain is checked from there.
    const anchor = fromSequence - 1;
    const end = fromSequence + limit;
    const rows = await this.ask<StoredRecord>({ text: RUN, values: [shard, anchor, end] });
    const goesOn = (rows.at(-1)?.sequence ?? 0) >= end;
    const within = rows.filter(({ sequence }) => sequence < end);
    const before = anchor === 0 ? BEFORE_FIRST : within.shift();
    if (before !== undefined && before.sequence !== anchor) {
      throw new JournalCorrupt(shard, anchor, 'the record is missing');
    }
    const entries = before === undefined ? [] : checkRun(shard, before, within);
    const next = before === undefined ? anchor : fromSequence + entries.length;
    if (goesOn && next < end) throw new JournalCorrupt(shard, next, 'the record is missing');
    return entries;
  }

  async entries(shard: number, sequences: readonly number[]): Promise<JournalEntry[]> {
    if (sequences.length === 0) return [];
    const points = await this.ask<Point>({
      text: POINTS,
      values: [shard, sequences],
    });
    return sequences.map((sequence, index) => {
      const point = points[index];
      if (point?.sequence !== sequence) throw new JournalCorrupt(shard, sequence, 'the record is missing');
      return checkNext(shard, headBefore(shard, point), point);
    });
  }

  async unchecked(shard: number, from: number, limit: number): Promise<UncheckedRecord[]> {
    const rows = await this.ask<StoredRecord>({ text: UNCHECKED, values: [shard, from, limit] });
    return rows.map(({ seal, ...record }) => (isPresent(seal) ? { ...record, seal } : record));
  }

  async heads(): Promise<Map<number, number>> {
    const rows = await this.ask<{ shard: number; sequence: number }>({ text: HEADS });
    return new Map(rows.map(({ shard, sequence }) => [shard, sequence]));
  }

  private async ask<R extends QueryResultRow>(query: QueryConfig): Promise<R[]> {
    try {
      return (await this.pool.query<R>(query)).rows;
    } catch (error) {
      throw new JournalUnreadable(messageOf(error), { cause: error });
    }
  }
}

function headBefore(shard: number, point: Point): JournalHead {
  if (point.sequence === 1) return BEFORE_FIRST;
  const { epoch_before: epoch, hash_before: hash } = point;
  const sequence = point.sequence - 1;
  if (epoch === null || hash === null) throw new JournalCorrupt(shard, sequence, 'the record is missing');
  return { sequence, epoch, hash };
}
