import type { QueryConfig } from 'pg';
import type { JournalId } from '../journal-id.js';

/** From which record on a shard's appends have MACs. Only the table role can remove a row. */
export function findSealedFrom({ family, shard }: JournalId): QueryConfig {
  return {
    text: 'select sequence from journal.sealed where family = $1 and shard = $2',
    values: [family, shard],
  };
}

/** The first row stays. */
export function noteSealedFrom({ family, shard }: JournalId, sequence: number): QueryConfig {
  return {
    text: 'insert into journal.sealed (family, shard, sequence) values ($1, $2, $3) on conflict (family, shard) do nothing',
    values: [family, shard, sequence],
  };
}

export interface SealedFromRow {
  readonly sequence: number;
}
