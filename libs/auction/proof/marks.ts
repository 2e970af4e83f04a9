import type { Pool } from 'pg';
import type { JournalReader } from '#libs/journal/journal.js';
import { JournalCorrupt } from '#libs/journal/journal-errors.js';
import type { JournalFamily } from '#libs/journal/journal-id.js';
import { findIncarnation } from '#libs/journal/incarnation/topic-incarnation.js';
import { RestoredMark } from '#libs/journal/restored/restored-mark.js';
import type { LifeChecks } from './life-check.js';

/** The last record of a shard that the projections, a snapshot or the external checkpoint know. */
export interface Mark {
  readonly of: 'projections' | 'snapshot' | 'witness';
  readonly shard: number;
  readonly sequence: number;
  readonly hash: string;
}

const MARKS = `
  select 'projections' as of, shard, sequence, encode(hash, 'hex') as hash from auction_history.projection_offsets where sequence > 0 and $1 = 'auction'
  union all
  select 'snapshot', shard, sequence, encode(hash, 'hex') from journal.snapshots where family = $1
  union all
  select 'witness', shard, sequence, encode(hash, 'hex') from journal.witness where family = $1 and sequence > 0
  order by sequence`;
const KNOWN: Readonly<Record<Mark['of'], string>> = {
  projections: 'projections know',
  snapshot: 'a snapshot knows',
  witness: 'this database has seen',
};
const WHICH: Readonly<Record<Mark['of'], string>> = {
  projections: 'from which the projections were made',
  snapshot: 'from which the snapshot was made',
  witness: 'that this database has seen',
};
const SEALED = 'select shard, sequence from journal.sealed where family = $1';
const ACCEPTED = 'select shard, sequence from journal.accepted where family = $1';
const FENCES = `select shard, epoch from risk.shard_fence where $1 = 'auction'`;

/**
 * A hash chain alone cannot show that its end was cut off. What was made from the journal can, and so can the external checkpoint
 * of Kafka.
 */
export async function marksOf(pool: Pool, family: JournalFamily): Promise<Mark[]> {
  return (await pool.query<Mark>(MARKS, [family])).rows;
}

/** The fault of a journal that ends before a known record. */
export function lackOf({ of, sequence }: Mark, end: number): string {
  return `it ends at ${end}, but ${KNOWN[of]} record ${sequence}`;
}

/** The fault of a journal that has another record at a known position. */
export function differenceFrom({ of, sequence }: Mark): string {
  return `record ${sequence} is not the one ${WHICH[of]}`;
}

/** The fault of a journal whose last epoch is older than that of the last reservations. */
export function epochLackOf(epoch: number, reservingEpoch: number): string {
  return `it ends in epoch ${epoch}, but reservations were made in epoch ${reservingEpoch}`;
}

/** One line for each shard whose journal ends before its last known record. The marks must have been read before. */
export async function lacksOf(
  marks: readonly Mark[],
  reader: JournalReader,
  shards: readonly number[],
): Promise<string[]> {
  const heads = await reader.heads(shards);
  return shards.flatMap((shard) => {
    const end = heads.get(shard) ?? 0;
    const last = marks.findLast((referenced) => referenced.shard === shard && referenced.sequence > end);
    return last === undefined ? [] : [`shard ${shard}: ${lackOf(last, end)}`];
  });
}

/** Refuses journals that lack known records. Reads only those records and the ends, not the whole journals. */
export async function refuseWithout(pool: Pool, family: JournalFamily, reader: JournalReader): Promise<void> {
  const heads = await reader.heads();
  for (const referenced of await marksOf(pool, family)) {
    const { shard, sequence, hash } = referenced;
    const end = heads.get(shard) ?? 0;
    if (end < sequence) {
      // If the end is damaged, this read reports the damage.
      if (end > 0) await reader.read(shard, end, 1);
      throw new JournalCorrupt(shard, sequence, lackOf(referenced, end));
    }
    const [entry] = await reader.read(shard, sequence, 1);
    if (entry?.hash !== hash) throw new JournalCorrupt(shard, sequence, differenceFrom(referenced));
  }
  for (const [shard, reserving] of await reservingEpochs(pool, family)) {
    const end = heads.get(shard) ?? 0;
    const [last] = end === 0 ? [] : await reader.read(shard, end, 1);
    const epoch = last?.epoch ?? 0;
    if (epoch < reserving) throw new JournalCorrupt(shard, end + 1, epochLackOf(epoch, reserving));
  }
}

/** The epoch in which reservations were last made, by shard. Only auctions have them. */
export async function reservingEpochs(pool: Pool, family: JournalFamily): Promise<Map<number, number>> {
  const { rows } = await pool.query<{ shard: number; epoch: number }>(FENCES, [family]);
  return new Map(rows.map(({ shard, epoch }) => [shard, epoch]));
}

/**
 * The database's incarnation and, by shard, the record up to which its ledger is complete. Projections do not count, because they
 * are made from any journal. A database that is marked as restored lacks something, so it is not checked.
 */
export async function livesOf(
  pool: Pool,
  family: JournalFamily,
  marks: readonly Mark[],
): Promise<(shard: number) => LifeChecks> {
  const [{ id: own }, { rows }, marked] = await Promise.all([
    findIncarnation(pool),
    pool.query<{ shard: number; sequence: number }>(ACCEPTED, [family]),
    new RestoredMark(pool, family).ends(),
  ]);
  return (shard) => {
    const written = marks.filter(({ of }) => of !== 'projections');
    const known = [...written, ...rows].filter((each) => each.shard === shard);
    return {
      own: marked.length > 0 ? undefined : own,
      known: Math.max(0, ...known.map(({ sequence }) => sequence)),
    };
  };
}

/** The record from which on a shard is known to be sealed, by shard. */
export async function sealedFromOf(pool: Pool, family: JournalFamily): Promise<Map<number, number>> {
  const { rows } = await pool.query<{ shard: number; sequence: number }>(SEALED, [family]);
  return new Map(rows.map(({ shard, sequence }) => [shard, sequence]));
}
