import { isOutOfResources, isUnanswered, UnreadableNumber } from './postgres.js';
import { EXIT, isCodedError, StartFault } from '../process/start-fault.js';

/** SQLSTATE of a refused login, or of a missing database. */
const REFUSED = /^(?:28\w{3}|3D000)$/;

/** SQLSTATE of a statement that is too large for the server. */
const TOO_LARGE = '54000';
const TOO_LARGE_FOR_SERVER = 'invalid memory alloc request size';

/** True for a stored value that is too long to read, or too large for a JavaScript number. */
function isUnreadable(error: unknown): boolean {
  if (error instanceof UnreadableNumber) return true;
  if (!isCodedError(error)) return false;
  return (
    error.code === TOO_LARGE ||
    error.code === 'ERR_STRING_TOO_LONG' ||
    error.message.startsWith(TOO_LARGE_FOR_SERVER)
  );
}

/** Describes a database fault at start that an operator can repair. Undefined for anything else. */
export function asDatabaseFault(
  error: unknown,
  codeOfAway: number = EXIT.unavailable,
): StartFault | undefined {
  if (isOutOfResources(error)) return new StartFault(`the database cannot work: ${reasonOf(error)}`);
  if (isUnreadable(error)) {
    return new StartFault(
      `the database holds a value that cannot be read: ${reasonOf(error)}; docs/operate/database.md says how to find it (Values that cannot be read)`,
      EXIT.damaged,
    );
  }
  if (isUnanswered(error)) {
    return new StartFault(`the database cannot be reached: ${reasonOf(error)}`, codeOfAway);
  }
  if (!isCodedError(error) || !REFUSED.test(error.code)) return undefined;
  return new StartFault(`the database refuses DATABASE_URL: ${error.message}`, EXIT.config);
}

/** A host name with several addresses fails with one error for each address, and with no message of its own. */
function reasonOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === '')
    return error.errors.map((each) => reasonOf(each)).join(', ');
  return error instanceof Error ? error.message : String(error);
}
