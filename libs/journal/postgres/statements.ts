import type { QueryConfig } from 'pg';
import { type ArrayRoom, binaryArray, BYTEA, TEXT } from '#libs/platform/database/binary-array.js';
import type { JournalEntry } from '../journal.js';
import type { JournalFamily, JournalId } from '../journal-id.js';
import type { RecordMacs } from '../seals/record-macs.js';

/**
 * The fence and the write in one statement. Its share lock on the shard's row blocks openers; after an opener it finds the epoch
 * gone, `fence` is empty, and nothing is inserted. (`for key share` would not do: it does not conflict with an update of
 * `epoch`.)
 */
const APPEND = `
  with fence as materialized (
    select from journal.shards where family = $1 and shard = $2 and epoch = $3 for share
  )
  insert into journal.records (family, shard, sequence, epoch, kind, payload, hash, seal)
  select $1, $2, $4::bigint + record.place - 1, $3, $5, record.payload, record.hash,
    case record.place when cardinality($6::bytea[]) then $8::bytea end
  from fence
  cross join unnest($6::bytea[], $7::text[]) with ordinality as record (hash, payload, place)`;

const CONFIRM = 'select from journal.shards where family = $1 and shard = $2 and epoch = $3';

/** Returns a row while the epoch is the shard's last. */
export function confirmStatement({ family, shard }: JournalId, epoch: number): QueryConfig {
  return { name: 'journal-confirm', text: CONFIRM, values: [family, shard, epoch] };
}

/** Reused buffers of a writer that has one append in flight at a time. */
export interface AppendRooms {
  readonly hashes: ArrayRoom;
  readonly payloads: ArrayRoom;
}

/**
 * For consecutive records of one kind in one epoch. Without keys the last record has no MAC. The payloads come last: the driver
 * grows its message step by step, and copies all of it each time.
 */
export function appendStatement(
  family: JournalFamily,
  records: readonly JournalEntry[],
  seals: RecordMacs | undefined,
  rooms?: AppendRooms,
): QueryConfig {
  const first = records[0];
  const last = records.at(-1);
  if (first === undefined || last === undefined) throw new RangeError('nothing to append');
  const payloads = records.map((record) => record.payload);
  const hashes = records.map((record) => record.hash);
  return {
    name: 'journal-append',
    text: APPEND,
    values: [
      family,
      first.shard,
      first.epoch,
      first.sequence,
      first.kind,
      binaryArray(BYTEA, hashes, rooms?.hashes),
      binaryArray(TEXT, payloads, rooms?.payloads),
      seals?.sealOf(last) ?? null,
    ],
  };
}

export const RECORD_COLUMNS = `sequence, epoch, kind, convert_to(payload, 'UTF8') as payload, encode(hash, 'hex') as hash, seal`;
