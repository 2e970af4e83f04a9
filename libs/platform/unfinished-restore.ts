import { rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { ClientBase } from 'pg';
import { EXIT, isCodedError, StartFault } from './start-fault.js';

type Database = Pick<ClientBase, 'query'>;

const TABLE = 'unfinished_restore';
const FILE = 'unfinished-restore';
/** Whoever may not look into a schema may look what is in it. */
const FIND = `
  select from pg_class where relname = '${TABLE}' and relnamespace = (select oid from pg_namespace where nspname = 'meta')`;
const BEGIN = `create schema if not exists meta; create table meta.${TABLE} as select now() as begun_at`;

/** Its tables are there, and look like those of a cluster that has not traded yet. */
export class UnfinishedRestore extends StartFault {
  constructor() {
    super(
      'this database is the beginning of a restore that has not come to its end: unless one is at work, drop the database ' +
        '(of a data folder, delete what is called postgres in it), and restore the backup again',
      EXIT.damaged,
    );
  }
}

/** A mark that stands in a database from before its first table until the last thing is done. */
export async function beginRestore(database: Database): Promise<void> {
  await database.query(BEGIN);
}

export async function endRestore(database: Database): Promise<void> {
  await database.query(`drop table meta.${TABLE}`);
}

export async function refuseUnfinishedRestore(database: Database): Promise<void> {
  const { rowCount } = await database.query(FIND);
  if (rowCount !== 0) throw new UnfinishedRestore();
}

/** The same for the folder of a server of our own, whose database is not there yet. */
export async function beginRestoreIn(folder: string): Promise<void> {
  await writeFile(path.join(folder, FILE), '', { flush: true });
}

export async function endRestoreIn(folder: string): Promise<void> {
  await rm(path.join(folder, FILE));
}

export async function refuseUnfinishedRestoreIn(folder: string): Promise<void> {
  try {
    await stat(path.join(folder, FILE));
  } catch (error) {
    if (isCodedError(error) && error.code === 'ENOENT') return;
    throw error;
  }
  throw new UnfinishedRestore();
}
