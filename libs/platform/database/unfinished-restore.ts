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
const ONCE_MORE =
  'drop the database (of a data folder, delete what is called postgres in it), and restore the backup again';

/** Its tables exist, and look like those of a cluster that has not traded yet. */
export class UnfinishedRestore extends StartFault {
  constructor() {
    super(
      'this database is the beginning of a restore that has not come to its end: unless one is at work, ' +
        `npm run backup -- restore --resume goes on where all its rows are there; where that says that they are not, ${ONCE_MORE}`,
      EXIT.damaged,
    );
  }
}

class NothingToResume extends StartFault {
  constructor() {
    super('no restore has been begun here that could be brought to its end');
  }
}

/** A mark in a database from before its first table until the restore is complete. */
export async function beginRestore(database: Database): Promise<void> {
  await database.query(BEGIN);
}

/** In the transaction that inserts the rows: after it only the end of the restore is left. */
export async function noteFilled(database: Database, backup: object): Promise<void> {
  await database.query(`update meta.${TABLE} set filled_from = $1`, [JSON.stringify(backup)]);
}

/** The note stored with the rows. */
export async function findFilled(database: Database): Promise<unknown> {
  if ((await database.query(FIND)).rowCount === 0) throw new NothingToResume();
  const { rows } = await database.query<{ backup: unknown }>(FILLED);
  const backup = rows[0]?.backup ?? undefined;
  if (backup === undefined)
    throw new StartFault(`not all rows of the backup are there: ${ONCE_MORE}`, EXIT.damaged);
  return backup;
}

/** If two calls reach the end, one of them learns that it was not the first. */
export async function endRestore(database: Database): Promise<void> {
  try {
    await database.query(`drop table meta.${TABLE}`);
  } catch (error) {
    if (!isCodedError(error) || error.code !== NO_SUCH_TABLE) throw error;
    throw new StartFault('another call has brought this restore to its end meanwhile');
  }
}

export async function refuseUnfinishedRestore(database: Database): Promise<void> {
  const { rowCount } = await database.query(FIND);
  if (rowCount !== 0) throw new UnfinishedRestore();
}

/** The same for the folder of our own server, whose database does not exist yet. */
export async function beginRestoreIn(folder: string): Promise<void> {
  await writeFile(path.join(folder, FILE), '', { flush: true });
}

export async function endRestoreIn(folder: string): Promise<void> {
  await rm(path.join(folder, FILE));
}

export async function refuseUnfinishedRestoreIn(folder: string): Promise<void> {
  if (await isUnfinishedRestoreIn(folder)) throw new UnfinishedRestore();
}

/** A resumed restore must not mark a complete database as unfinished. */
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
