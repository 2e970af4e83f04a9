import { rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { ClientBase } from 'pg';
import { EXIT, isCodedError, StartFault } from '../process/start-fault.js';

type Database = Pick<ClientBase, 'query'>;

const TABLE = 'unfinished_restore';
const FILE = 'unfinished-restore';
/** A role without rights to a schema can still read the catalogue. */
const FIND = `
  select from pg_class where relname = '${TABLE}' and relnamespace = (select oid from pg_namespace where nspname = 'meta')`;
const BEGIN = `
  create schema if not exists meta;
  create table meta.${TABLE} as select now() as begun_at, null::jsonb as filled_from`;
const FILLED = `select filled_from as backup from meta.${TABLE}`;
const NO_SUCH_TABLE = '42P01';
const START_OVER =
  'drop the database (in a data folder, delete the subfolder postgres), and restore the backup again';

/** The tables of an unfinished restore look like those of a new cluster, so every process must refuse them. */
export class UnfinishedRestore extends StartFault {
  constructor() {
    super(
      'the restore of this database is not finished: unless one is running, ' +
        `npm run backup -- restore --resume finishes it if all rows are there; if it says that they are not, ${START_OVER}`,
      EXIT.damaged,
    );
  }
}

class NothingToResume extends StartFault {
  constructor() {
    super('there is no unfinished restore here that could be resumed');
  }
}

/** Marks a database as unfinished, before its first table is created. The mark stays until the restore is complete. */
export async function beginRestore(database: Database): Promise<void> {
  await database.query(BEGIN);
}

/** Must run in the transaction that inserts the rows. After it only `endRestore` is left to do. */
export async function noteFilled(database: Database, backup: object): Promise<void> {
  await database.query(`update meta.${TABLE} set filled_from = $1`, [JSON.stringify(backup)]);
}

/** Returns the value that `noteFilled` has stored. Throws if not all rows were inserted. */
export async function findFilled(database: Database): Promise<unknown> {
  if ((await database.query(FIND)).rowCount === 0) throw new NothingToResume();
  const { rows } = await database.query<{ backup: unknown }>(FILLED);
  const backup = rows[0]?.backup ?? undefined;
  if (backup === undefined)
    throw new StartFault(`not all rows of the backup are there: ${START_OVER}`, EXIT.damaged);
  return backup;
}

/** Removes the mark. If two calls get here, the second one fails. */
export async function endRestore(database: Database): Promise<void> {
  try {
    await database.query(`drop table meta.${TABLE}`);
  } catch (error) {
    if (!isCodedError(error) || error.code !== NO_SUCH_TABLE) throw error;
    throw new StartFault('another call has finished this restore meanwhile');
  }
}

export async function refuseUnfinishedRestore(database: Database): Promise<void> {
  const { rowCount } = await database.query(FIND);
  if (rowCount !== 0) throw new UnfinishedRestore();
}

/** Marks the folder of an embedded server, whose database does not exist yet. */
export async function beginRestoreIn(folder: string): Promise<void> {
  await writeFile(path.join(folder, FILE), '', { flush: true });
}

export async function endRestoreIn(folder: string): Promise<void> {
  await rm(path.join(folder, FILE));
}

export async function refuseUnfinishedRestoreIn(folder: string): Promise<void> {
  if (await isUnfinishedRestoreIn(folder)) throw new UnfinishedRestore();
}

/** Without this check a resumed restore could mark a complete database as unfinished. */
export async function refuseNothingToResumeIn(folder: string): Promise<void> {
  if (!(await isUnfinishedRestoreIn(folder))) throw new NothingToResume();
}

async function isUnfinishedRestoreIn(folder: string): Promise<boolean> {
  try {
    await stat(path.join(folder, FILE));
    return true;
  } catch (error) {
    if (isCodedError(error) && error.code === 'ENOENT') return false;
    throw error;
  }
}
