import type { ClientBase } from 'pg';
import { EXIT, isCodedError, StartFault } from '../process/start-fault.js';

/** The generation of this release. A database stores the oldest generation that may use it. Decision 96 says when either rises. */
export const GENERATION = 1;

const FIND = 'select oldest, release from meta.generation';
/** SQLSTATEs of a missing table or schema: no release with generations has migrated the database. */
const NOT_THERE: ReadonlySet<string> = new Set(['42P01', '3F000']);
const INSUFFICIENT_PRIVILEGE = '42501';

interface StoredGeneration {
  readonly oldest: number;
  readonly release: string;
}

/** A newer release has used the database, and this one would damage its data. */
export class DatabaseTooNew extends StartFault {
  constructor({ oldest, release }: StoredGeneration) {
    super(
      `this database is for releases of generation ${oldest} and later since ${release} was installed on it, and this release is of generation ${GENERATION}: ` +
        'start a newer one, or restore a backup from before into another database',
      EXIT.config,
    );
  }
}

/** Newer migrations alone are accepted, because an upgrade begins with them. */
export async function refuseNewerDatabase(database: Pick<ClientBase, 'query'>): Promise<void> {
  const stored = await findGeneration(database);
  if (stored !== undefined && stored.oldest > GENERATION) throw new DatabaseTooNew(stored);
}

async function findGeneration(database: Pick<ClientBase, 'query'>): Promise<StoredGeneration | undefined> {
  try {
    return (await database.query<StoredGeneration>(FIND)).rows[0];
  } catch (error) {
    if (!isCodedError(error)) throw error;
    if (NOT_THERE.has(error.code)) return undefined;
    if (error.code !== INSUFFICIENT_PRIVILEGE) throw error;
    throw new StartFault(
      'the role of DATABASE_URL may not read which releases can use the database: run the migration of this release first',
      EXIT.config,
    );
  }
}
