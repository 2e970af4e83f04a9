import { asDatabaseFault } from './database-fault.js';
import { EXIT, isCodedError, StartFault } from '../process/start-fault.js';

const SQLSTATE = /^[0-9A-Z]{5}$/;
/** SQLSTATEs of a missing right or a read-only server: DATABASE_URL names the wrong role or server. */
const NOT_ALLOWED = /^(?:42501|25006)$/;
/** SQLSTATEs of interference by other sessions: locks, deadlocks, timeouts. */
const BLOCKED = /^(?:40|55|57)/;

/** SQLSTATEs of a row that violates a new constraint. */
const CONSTRAINT_VIOLATED = /^23\w{3}$/;

/** Details that PostgreSQL sends with the message. */
interface ConstraintOrigin {
  readonly schema?: string;
  readonly table?: string;
  readonly constraint?: string;
}

/** Turns a refusal of the database into a fault that says why the schema cannot be migrated. Returns other errors unchanged. */
export function asSchemaFault(error: unknown): unknown {
  const isOfDatabase =
    isCodedError(error) && SQLSTATE.test(error.code) && asDatabaseFault(error) === undefined;
  if (!isOfDatabase) return error;
  const exitCode = NOT_ALLOWED.test(error.code)
    ? EXIT.config
    : BLOCKED.test(error.code)
      ? EXIT.unavailable
      : EXIT.damaged;
  const what = `the schema cannot be brought up to date: ${error.message}`;
  return new StartFault(`${what}${CONSTRAINT_VIOLATED.test(error.code) ? originOf(error) : ''}`, exitCode);
}

function originOf(error: object): string {
  const { schema, table, constraint }: ConstraintOrigin = error;
  if (schema === undefined || table === undefined) return '';
  const constraintText = constraint === undefined ? '' : `, constraint ${constraint}`;
  return ` (table ${schema}.${table}${constraintText}); docs/operate/database.md says how the rows are found (Values that cannot be read)`;
}
