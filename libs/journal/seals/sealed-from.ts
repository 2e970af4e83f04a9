import type { QueryConfig } from 'pg';

/** Where it is known from which record on the appends of a shard are sealed. Nothing takes a row away but who owns the tables. */
export function findSealedFrom(shard: number): QueryConfig {
  return { text: 'select sequence from journal.sealed where shard = $1', values: [shard] };
}

/** Whoever was there first stays. */
export function noteSealedFrom(shard: number, sequence: number): QueryConfig {
  return {
    text: 'insert into journal.sealed (shard, sequence) values ($1, $2) on conflict (shard) do nothing',
    values: [shard, sequence],
  };
}

export interface SealedFromRow {
  readonly sequence: number;
}
