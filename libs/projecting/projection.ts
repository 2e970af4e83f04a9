import { createHash } from 'node:crypto';
import type { ClientBase } from 'pg';
import type { JournalEntry } from '#libs/journal/journal.js';
import type { JournalFamily } from '#libs/journal/journal-id.js';

export interface TableName {
  readonly schema: string;
  readonly name: string;
}

export interface ProjectedTable extends TableName {
  readonly key: readonly string[];
  /** An SQL expression for the shard of a row. */
  readonly shard: string;
  /** A column with nanoseconds since 1970. Rows past that moment may be deleted already, and no reader asks for them. */
  readonly expires?: string;
}

/** Maps a schema to the schema that has the tables. Copies are in schemas of other names, and the same code writes them. */
export type SchemaOf = (schema: string) => string;

export const LIVE: SchemaOf = (schema) => schema;

/** New records of one shard, consecutive. */
export interface JournalBatch {
  readonly shard: number;
  readonly entries: readonly JournalEntry[];
}

/** Returns the remembered value of a key, if the shard has not moved on since. Values may be forgotten at any time. */
export type Recall<Kept> = (key: string) => Kept | undefined;

export interface ProjectionWriter<Kept> {
  /**
   * Writes a batch within the caller's transaction, which moves the offset too: no record is ever applied twice. Rows come from
   * the records alone, and do not depend on how these are cut into batches. Resolves with values that the next batch may need.
   */
  apply(
    client: ClientBase,
    batch: JournalBatch,
    recall: Recall<Kept>,
  ): Promise<ReadonlyMap<string, Kept | undefined>>;
}

/**
 * Tables that are made from a journal alone. The schemas of its tables contain nothing else, because a rebuild replaces them.
 * `Kept` is what it remembers for the next batch.
 */
export interface Projection<Kept> {
  /** Keeps its leases apart from those of other projections. */
  readonly name: string;
  /** The family of the journals that it is made from. */
  readonly family: JournalFamily;
  /** One row a shard, with its last applied record: `shard`, `epoch`, `sequence`, `hash`. */
  readonly offsets: TableName;
  /** All other tables, in the order in which readers lock them. */
  readonly tables: readonly ProjectedTable[];
  /** The largest number of keys that are remembered for a shard. */
  readonly capacity: number;
  writer(schemaOf: SchemaOf): ProjectionWriter<Kept>;
}

/** A projection without what it keeps in memory. */
export type ProjectionTables = Pick<Projection<unknown>, 'name' | 'family' | 'offsets' | 'tables'>;

/** Every table, in the order in which locks are taken. A projector locks its offset first. */
export function tablesOf({ offsets, tables }: ProjectionTables): readonly ProjectedTable[] {
  return [{ ...offsets, key: ['shard'], shard: 'shard' }, ...tables];
}

export function schemasOf(projection: ProjectionTables): readonly string[] {
  return [...new Set(tablesOf(projection).map(({ schema }) => schema))];
}

export function qualified({ schema, name }: TableName, schemaOf = LIVE): string {
  return `${schemaOf(schema)}.${name}`;
}

/** A 32 bit key for an advisory lock. The same name always gives the same key. */
export function lockNumber(name: string): number {
  return createHash('sha256').update(name).digest().readInt32BE();
}
