import type { QueryConfig } from 'pg';
import type { JournalId } from '../journal-id.js';

/** Where it is known from which record on the appends of a shard are sealed. Nothing takes a row away but who owns the tables. */
export function findSealedFrom({ family, shard }: JournalId): QueryConfig {
  return {
    text: 'select sequence from journal.sealed where family = $1 and shard = $2',
    values: [family, shard],
  };
}

/** Whoever was there first stays. */
export function noteSealedFrom({ family, shard }: JournalId, sequence: number): QueryConfig {
  return {
    text: 'insert into journal.sealed (family, shard, sequence) values ($1, $2, $3) on conflict (family, shard) do nothing',
    values: [family, shard, sequence],
  };
}

export interface SealedFromRow {
  readonly sequence: number;
}
