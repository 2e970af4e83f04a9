import { checkNext, type StoredRecord } from '../chain-check.js';
import { beforeFirst, headAt, linkEpoch } from '../hash-chain.js';
import { inKafka } from '../backend/journal-backend.js';
import type { JournalEntry, JournalHead } from '../journal.js';
import { JournalCorrupt } from '../journal-errors.js';
import { JOURNAL_FAMILIES, type JournalId } from '../journal-id.js';
import type { RecordMacs } from '../seals/record-macs.js';
import {
  checkEnd,
  findSealedFrom,
  type FoundEnd,
  JournalUnsealed,
  noteSealedFrom,
  type SealedFromRow,
  withLastSealed,
} from '../seals/sealed-end.js';
import type { Session } from './session.js';
import { appendStatement, RECORD_COLUMNS } from './statements.js';

/**
 * Waits for the append in flight, whose writer holds a share lock on the row; after that its epoch is over. Waits also for a
 * transaction that settles the backend, which locks the table.
 */
const NEXT_EPOCH = `
  insert into journal.shards as taken (family, shard, epoch) values ($1, $2, 1)
  on conflict (family, shard) do update set epoch = taken.epoch + 1
  returning epoch`;

/**
 * Shared with other openers. Refused while a process has locked the shard. Held until the end of the transaction: a process that
 * locks the shard waits for a running opener.
 */
const PASS = 'select pg_try_advisory_xact_lock_shared($1, $2) as passed';
/** A separate statement after the one for the epoch, so that it sees a backend whose transaction that statement waited for. */
const ELSEWHERE = 'select topic_prefix from journal.home where family = $1';
const KEEP = 'select pg_advisory_lock($1, $2)';
/** Any constant will do as long as it never changes: it keeps these locks apart from all others. */
const LOCK_CLASS = 1_193_046_471;
/** The maximum of the table's column type. */
const MOST_SHARDS = 32_768;

const LAST_TWO = `
  select ${RECORD_COLUMNS} from journal.records where family = $1 and shard = $2 order by sequence desc limit 2`;

/** A forger without the key can invent MACs, but hardly this many. */
const LAST_SEALED = `
  select ${RECORD_COLUMNS} from journal.records where family = $1 and shard = $2 and seal is not null
  order by sequence desc limit 1000`;

interface TakenShard extends JournalId {
  readonly opener: string;
  readonly seals: RecordMacs | undefined;
}

/** Until the session ends, no other session opens the shard. */
export async function keepShard(session: Session, journal: JournalId, withinMillis: number): Promise<void> {
  await session.query({ text: KEEP, values: lockOf(journal) }, withinMillis);
}

/** Two journals never share a lock. */
function lockOf({ family, shard }: JournalId): [number, number] {
  return [LOCK_CLASS, JOURNAL_FAMILIES.indexOf(family) * MOST_SHARDS + shard];
}

/**
 * Makes `opener` the only writer of the shard and returns the durable epoch record as its head. Returns undefined, without a
 * change, while another process has locked the shard.
 */
export async function takeShard(
  session: Session,
  taken: TakenShard,
  withinMillis: number,
): Promise<JournalHead | undefined> {
  const { family, shard, opener, seals } = taken;
  const ofJournal = [family, shard];
  await session.query({ text: 'begin' }, withinMillis);
  const pass = { text: PASS, values: lockOf(taken) };
  const { rows } = await session.query<{ passed: boolean }>(pass, withinMillis);
  if (rows[0]?.passed !== true) {
    await session.query({ text: 'rollback' }, withinMillis);
    return undefined;
  }
  const next = await session.query<{ epoch: number }>({ text: NEXT_EPOCH, values: ofJournal }, withinMillis);
  const elsewhere = await session.query<{ topic_prefix: string }>(
    { text: ELSEWHERE, values: [family] },
    withinMillis,
  );
  if (elsewhere.rows[0] !== undefined) throw inKafka(elsewhere.rows[0].topic_prefix);
  // A separate statement, so that it sees what the last append has committed.
  const tail = await session.query<StoredRecord>({ text: LAST_TWO, values: ofJournal }, withinMillis);
  const epoch = next.rows[0]?.epoch ?? 0;
  let record: JournalEntry;
  try {
    const before = checkedEnd(taken, tail.rows);
    if (epoch <= before.epoch) {
      throw new JournalCorrupt(shard, before.sequence, `its epoch ${before.epoch} was never begun`);
    }
    record = linkEpoch(shard, before, epoch, opener);
    if (seals !== undefined)
      await requireSealedEnd(
        session,
        seals,
        { family, shard, end: before, next: record.sequence },
        withinMillis,
      );
  } catch (error) {
    throw await withLastOwned(session, { family, shard, seals }, error, withinMillis);
  }
  await session.query(appendStatement(family, [record], seals), withinMillis);
  await session.query({ text: 'commit' }, withinMillis);
  return headAt(record);
}

/** Checks the tail before anything is appended; readers check the rest. */
function checkedEnd({ family, shard }: JournalId, [last, beforeLast]: readonly StoredRecord[]): FoundEnd {
  const first = beforeFirst(family);
  if (last === undefined) return { ...first, seal: undefined };
  const entry = checkNext(shard, beforeLast ?? first, last);
  return { ...headAt(entry), seal: entry.seal };
}

/** The row is locked, so no owner writes meanwhile. A forger would have taken the next sequence, and the insert fails. */
async function requireSealedEnd(
  session: Session,
  seals: RecordMacs,
  { family, shard, end, next }: JournalId & { readonly end: FoundEnd; readonly next: number },
  withinMillis: number,
): Promise<void> {
  const { rows } = await session.query<SealedFromRow>(findSealedFrom({ family, shard }), withinMillis);
  checkEnd(seals, shard, end, rows[0]?.sequence);
  if (rows[0] === undefined) await session.query(noteSealedFrom({ family, shard }, next), withinMillis);
}

/** Adds the last record with an owner's MAC, if the fault is after it. */
async function withLastOwned(
  session: Session,
  { family, shard, seals }: Omit<TakenShard, 'opener'>,
  error: unknown,
  withinMillis: number,
): Promise<unknown> {
  const isEndFault = error instanceof JournalCorrupt || error instanceof JournalUnsealed;
  if (seals === undefined || !isEndFault) return error;
  const { rows } = await session.query<StoredRecord>(
    { text: LAST_SEALED, values: [family, shard] },
    withinMillis,
  );
  const sealed = rows.find(
    ({ sequence, epoch, hash, seal }) => seal && seals.isGood({ shard, sequence, epoch, hash }, seal),
  );
  return withLastSealed(error, shard, sealed?.sequence);
}
