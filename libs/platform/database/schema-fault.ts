import { asDatabaseFault } from './database-fault.js';
import { EXIT, isCodedError, StartFault } from '../process/start-fault.js';

const SQLSTATE = /^[0-9A-Z]{5}$/;
/** No right, or a read-only server: DATABASE_URL names the wrong role or server. */
const WRONG_PLACE = /^(?:42501|25006)$/;
/** Other sessions were in the way: locks, deadlocks, timeouts. */
const IN_THE_WAY = /^(?:40|55|57)/;

/** A row violates a new constraint. */
const OF_ROWS = /^23\w{3}$/;

/** Details that PostgreSQL sends beside the message. */
interface ConstraintOrigin {
  readonly schema?: string;
  readonly table?: string;
  readonly constraint?: string;
}

/** Why the schema cannot be migrated, if the database itself says so. Anything else is thrown unchanged. */
export function asSchemaFault(error: unknown): unknown {
  const isOfDatabase =
    isCodedError(error) && SQLSTATE.test(error.code) && asDatabaseFault(error) === undefined;
  if (!isOfDatabase) return error;
  const exitCode = WRONG_PLACE.test(error.code)
    ? EXIT.config
    : IN_THE_WAY.test(error.code)
      ? EXIT.unavailable
      : EXIT.damaged;
  const what = `the schema cannot be brought up to date: ${error.message}`;
  return new StartFault(`${what}${OF_ROWS.test(error.code) ? placeOf(error) : ''}`, exitCode);
}

function placeOf(error: object): string {
  const { schema, table, constraint }: ConstraintOrigin = error;
  if (schema === undefined || table === undefined) return '';
  const named = constraint === undefined ? '' : `, constraint ${constraint}`;
  return ` (table ${schema}.${table}${named}); docs/operate/database.md says how the rows are found (Values that cannot be read)`;
}
