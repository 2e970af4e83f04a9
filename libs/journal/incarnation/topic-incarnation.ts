import { EXIT, StartFault } from '#libs/platform/process/start-fault.js';
import type { EpochIncarnation, JournalHead } from '../journal.js';
import type { Checkpoint } from '../checkpoint/checkpoint-table.js';
import { randomUUID } from 'node:crypto';
import type { Pool, PoolClient } from 'pg';

/** A topic whose last owner had another database. Each database lacks the settlements and reservations of the other. */
export class OtherDatabase extends StartFault {
  constructor(shard: number, what: string) {
    super(
      `shard ${shard}: ${what}. Two databases must not write one journal in turns, so nothing is written: see docs/operate/journals.md (A journal of another database)`,
      EXIT.damaged,
    );
  }
}

/** The end of a topic, with the payload of the record that began its last epoch. */
export interface TopicEnd extends JournalHead {
  readonly began: string | undefined;
}

/**
 * Returns the incarnation that a new epoch records. A database with another incarnation was restored, or replaced by a restored
 * one. It may continue only directly after the last record that it knows: then the other database has written nothing since. An
 * epoch without incarnation comes from PostgreSQL and is trusted.
 */
export function incarnationAfter(
  shard: number,
  life: string,
  end: TopicEnd,
  known: readonly Checkpoint[],
): EpochIncarnation {
  const { life: before } = incarnationIn(end.began);
  if (before === undefined || before === life) return { life };
  if (known.some(({ hash }) => hash === end.hash)) return { life, follows: before };
  const last = Math.max(0, ...known.map(({ sequence }) => sequence));
  // A new leader of the topic may not have all records yet.
  if (end.sequence < last) throw new Error(`its topic ends with record ${end.sequence}, before ${last}`);
  throw new OtherDatabase(
    shard,
    `its topic goes on to record ${end.sequence}, written for another database (life ${before}), and this one (life ${life}) is complete only up to record ${last}`,
  );
}

/** The known fields of the payload of an epoch record. */
export function incarnationIn(payload: string | undefined): EpochIncarnation {
  const { life, follows } = fieldsOf(payload ?? '');
  return {
    ...(typeof life === 'string' ? { life } : {}),
    ...(typeof follows === 'string' ? { follows } : {}),
  };
}

function fieldsOf(payload: string): { readonly life?: unknown; readonly follows?: unknown } {
  try {
    const content = JSON.parse(payload) as unknown;
    return typeof content === 'object' && content !== null ? content : {};
  } catch {
    return {};
  }
}

/** The journals of a database from their beginning, or from a restore, until the next restore. */
export interface Incarnation {
  readonly id: string;
}

interface Row {
  readonly life: string;
}

const FIND = 'select life from journal.life';

/** The incarnation of this database's journals, in either store. */
export async function findIncarnation(pool: Pool): Promise<Incarnation> {
  const [row] = (await pool.query<Row>(FIND)).rows;
  if (row === undefined) throw new Error('journal.life is empty');
  return { id: row.life };
}

/** Makes all positions invalid that clients got in these journals before. */
export async function beginIncarnation(database: Pool | PoolClient): Promise<void> {
  await database.query('update journal.life set life = $1, restored_at = now()', [randomUUID()]);
}
