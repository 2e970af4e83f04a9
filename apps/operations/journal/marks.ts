import type { Pool } from 'pg';
import type { JournalReader } from '#libs/journal/journal.js';
import { JournalCorrupt } from '#libs/journal/journal-errors.js';
import { findJournalLife } from '#libs/journal/life/journal-life.js';
import { RestoredMark } from '#libs/journal/restored/restored-mark.js';
import type { StoreKind } from '#libs/journal/stores/journal-store.js';
import type { LifeChecks } from './life-check.js';

/** Something that was made from a shard's journal, or was told of it, and remembers up to which record. */
export interface Mark {
  readonly of: 'projections' | 'snapshot' | 'witness';
  readonly shard: number;
  readonly sequence: number;
  readonly hash: string;
}

const MARKS = `
  select 'projections' as of, shard, sequence, encode(hash, 'hex') as hash from execution.positions where sequence > 0
  union all
  select 'snapshot', shard, sequence, encode(hash, 'hex') from journal.snapshots
  union all
  select 'witness', shard, sequence, encode(hash, 'hex') from journal.witness where sequence > 0 and $1 = 'kafka'
  order by sequence`;
const KNOWN: Readonly<Record<Mark['of'], string>> = {
  projections: 'projections know',
  snapshot: 'a snapshot knows',
  witness: 'this database has seen',
};
const WHICH: Readonly<Record<Mark['of'], string>> = {
  projections: 'of which the projections were made',
  snapshot: 'of which the snapshot was made',
  witness: 'that this database has seen',
};
const SEALED = 'select shard, sequence from journal.sealed';
const ACCEPTED = 'select shard, sequence from journal.accepted';
const FENCES = 'select shard, epoch from risk.shard_fence';

/** A chain alone cannot show that its end was cut off; what was made from it can. */
export async function marksOf(pool: Pool, store: StoreKind): Promise<Mark[]> {
  return (await pool.query<Mark>(MARKS, [store])).rows;
}

/** What is wrong with a journal that ends before the record. */
export function lackOf({ of, sequence }: Mark, end: number): string {
  return `it ends at ${end}, but ${KNOWN[of]} record ${sequence}`;
}

/** What is wrong with a journal that has another record in its place. */
export function differenceFrom({ of, sequence }: Mark): string {
  return `record ${sequence} is not the one ${WHICH[of]}`;
}

/** Refuses journals that do not have what is known of them: without reading them, only looking where the marks are. */
export async function refuseWithout(marks: readonly Mark[], reader: JournalReader): Promise<void> {
  const heads = await reader.heads();
  for (const mark of marks) {
    const { shard, sequence, hash } = mark;
    const end = heads.get(shard) ?? 0;
    if (end < sequence) throw new JournalCorrupt(shard, sequence, lackOf(mark, end));
    const [entry] = await reader.read(shard, sequence, 1);
    if (entry?.hash !== hash) throw new JournalCorrupt(shard, sequence, differenceFrom(mark));
  }
}

/** The epoch, by shard, in which somebody last reserved. */
export async function reservingEpochs(pool: Pool): Promise<Map<number, number>> {
  const { rows } = await pool.query<{ shard: number; epoch: number }>(FENCES);
  return new Map(rows.map(({ shard, epoch }) => [shard, epoch]));
}

/**
 * Of the database itself, and by shard up to which record its ledger has everything that the journal says: projections are made of whatever
 * stands there. One that is marked as restored is known to lack something; whoever accepts it says what.
 */
export async function livesOf(pool: Pool, marks: readonly Mark[]): Promise<(shard: number) => LifeChecks> {
  const [{ id: own }, { rows }, marked] = await Promise.all([
    findJournalLife(pool),
    pool.query<{ shard: number; sequence: number }>(ACCEPTED),
    new RestoredMark(pool).ends(),
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

/** By shard, from which record on it is known to be sealed. */
export async function sealedFromOf(pool: Pool): Promise<Map<number, number>> {
  const { rows } = await pool.query<{ shard: number; sequence: number }>(SEALED);
  return new Map(rows.map(({ shard, sequence }) => [shard, sequence]));
}
