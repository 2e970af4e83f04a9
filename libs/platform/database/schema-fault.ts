import { asDatabaseFault } from './database-fault.js';
import { EXIT, isCodedError, StartFault } from '../process/start-fault.js';

const SQLSTATE = /^[0-9A-Z]{5}$/;
/** No right to it, or a server that takes no writes: DATABASE_URL names another role or server than it should. */
const WRONG_PLACE = /^(?:42501|25006)$/;
/** Others were in the way: locks, deadlocks, time that was up. */
const IN_THE_WAY = /^(?:40|55|57)/;

/** A row is not as a new constraint has it. */
const OF_ROWS = /^23\w{3}$/;

/** What PostgreSQL tells beside the message. */
interface Placed {
  readonly schema?: string;
  readonly table?: string;
  readonly constraint?: string;
}

/** Why the schema cannot be brought up to date, where the database itself says so. Anything else is thrown as it is. */
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
  const { schema, table, constraint }: Placed = error;
  if (schema === undefined || table === undefined) return '';
  const named = constraint === undefined ? '' : `, constraint ${constraint}`;
  return ` (table ${schema}.${table}${named}); docs/operations.md says how the rows are found (Values that cannot be read)`;
}
