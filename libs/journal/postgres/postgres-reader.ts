import pg, { type Pool, type QueryConfig, type QueryResultRow } from 'pg';
import { checkNext, isPresent, type StoredRecord } from '../chain-check.js';
import { beforeFirst } from '../hash-chain.js';
import type { BareReader, JournalEntry, JournalHead, UncheckedRecord } from '../journal.js';
import { JournalCorrupt, JournalUnreadable, messageOf } from '../journal-errors.js';
import type { JournalFamily, JournalId } from '../journal-id.js';
import { PageCheck } from './page-check.js';
import { COPIED_COLUMNS, RecordCopy } from './record-copy.js';
import { RECORD_COLUMNS } from './statements.js';

/**
 * Selects the records of a range, and the first one after it, which tells the end of the shard from a gap. Both bounds are given:
 * without statistics the planner would sort everything after a lower bound for each page. A COPY takes no parameters.
 */
function pageStatement({ family, shard }: JournalId, anchor: number, end: number): string {
  const [inShard, first, after] = [shard, anchor, end].map(wholeNumber);
  const ofJournal = `family = ${pg.escapeLiteral(family)} and shard = ${inShard}`;
  return `
  (select ${COPIED_COLUMNS} from journal.records
   where ${ofJournal} and sequence >= ${first} and sequence < ${after} order by sequence)
  union all
  (select ${COPIED_COLUMNS} from journal.records
   where ${ofJournal} and sequence >= ${after} order by sequence limit 1)
  order by sequence`;
}

function wholeNumber(value: number): string {
  if (!Number.isSafeInteger(value)) throw new RangeError(`${value} is not a position in a journal`);
  return String(value);
}

/** Selects each record with the epoch and hash of the record before it, which its check needs. */
const POINTS = `
  select record.sequence, record.epoch, record.kind, convert_to(record.payload, 'UTF8') as payload, encode(record.hash, 'hex') as hash, record.seal,
    before.epoch as epoch_before, encode(before.hash, 'hex') as hash_before
  from unnest($3::bigint[]) with ordinality as wanted (sequence, place)
  join journal.records record on record.family = $1 and record.shard = $2 and record.sequence = wanted.sequence
  left join journal.records before on before.family = $1 and before.shard = $2 and before.sequence = wanted.sequence - 1
  order by wanted.place`;

const UNCHECKED = `select ${RECORD_COLUMNS} from journal.records where family = $1 and shard = $2 and sequence >= $3 order by sequence limit $4`;

const HEADS = `
  select shards.shard, last.sequence from journal.shards
  cross join lateral (
    select sequence from journal.records where family = shards.family and shard = shards.shard order by sequence desc limit 1
  ) last
  where shards.family = $1`;

type Point = StoredRecord & { readonly epoch_before: number | null; readonly hash_before: string | null };

/**
 * These statements have no names: a cached plan from when the table was small would scan all of it until the statistics are renewed.
 */
export class PostgresJournalReader implements BareReader {
  constructor(
    private readonly pool: Pool,
    private readonly family: JournalFamily,
  ) {}

  async read(shard: number, fromSequence: number, limit: number): Promise<JournalEntry[]> {
    const end = fromSequence + limit;
    const journal = { family: this.family, shard };
    const check = new PageCheck(journal, fromSequence, end);
    const statement = pageStatement(journal, fromSequence - 1, end);
    await this.copy(new RecordCopy(statement, (record) => check.take(record)));
    return check.page();
  }

  async entries(shard: number, sequences: readonly number[]): Promise<JournalEntry[]> {
    if (sequences.length === 0) return [];
    const points = await this.ask<Point>({
      text: POINTS,
      values: [this.family, shard, sequences],
    });
    return sequences.map((sequence, index) => {
      const point = points[index];
      if (point?.sequence !== sequence) throw new JournalCorrupt(shard, sequence, 'the record is missing');
      return checkNext(shard, headBefore({ family: this.family, shard }, point), point);
    });
  }

  async unchecked(shard: number, from: number, limit: number): Promise<UncheckedRecord[]> {
    const rows = await this.ask<StoredRecord>({ text: UNCHECKED, values: [this.family, shard, from, limit] });
    return rows.map(({ seal, payload, ...record }) => {
      const shown = { ...record, payload: payload.toString() };
      return isPresent(seal) ? { ...shown, seal } : shown;
    });
  }

  async heads(shards?: readonly number[]): Promise<Map<number, number>> {
    const rows = await this.ask<{ shard: number; sequence: number }>({ text: HEADS, values: [this.family] });
    const wanted = rows.filter(({ shard }) => shards?.includes(shard) ?? true);
    return new Map(wanted.map(({ shard, sequence }) => [shard, sequence]));
  }

  private async copy(copy: RecordCopy): Promise<void> {
    try {
      // By its types the pool returns the submittable itself; in fact it returns a promise of its end.
      const end: unknown = this.pool.query(copy);
      await end;
      copy.check();
    } catch (error) {
      throw error instanceof JournalCorrupt ? error : unreadable(error);
    }
  }

  private async ask<R extends QueryResultRow>(query: QueryConfig): Promise<R[]> {
    try {
      return (await this.pool.query<R>(query)).rows;
    } catch (error) {
      throw unreadable(error);
    }
  }
}

function unreadable(error: unknown): JournalUnreadable {
  return new JournalUnreadable(messageOf(error), { cause: error });
}

function headBefore({ family, shard }: JournalId, point: Point): JournalHead {
  if (point.sequence === 1) return beforeFirst(family);
  const { epoch_before: epoch, hash_before: hash } = point;
  const sequence = point.sequence - 1;
  if (epoch === null || hash === null) throw new JournalCorrupt(shard, sequence, 'the record is missing');
  return { sequence, epoch, hash };
}
