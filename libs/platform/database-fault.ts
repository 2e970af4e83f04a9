import { isConnectionFailure } from './postgres.js';
import { EXIT, isCodedError, StartFault } from './start-fault.js';

/** Invalid authorization, and a database of that name that is not there. */
const REFUSED = /^(?:28\w{3}|3D000)$/;

/** What an operator can mend about a database by which a program cannot begin; undefined for anything else. */
export function asDatabaseFault(
  error: unknown,
  codeOfAway: number = EXIT.unavailable,
): StartFault | undefined {
  if (isConnectionFailure(error)) {
    return new StartFault(`the database cannot be reached: ${reasonOf(error)}`, codeOfAway);
  }
  if (!isCodedError(error) || !REFUSED.test(error.code)) return undefined;
  return new StartFault(`the database refuses DATABASE_URL: ${error.message}`, EXIT.config);
}

/** A name with several addresses fails with an error for each, and none of its own to be read. */
function reasonOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === '')
    return error.errors.map((each) => reasonOf(each)).join(', ');
  return error instanceof Error ? error.message : String(error);
}
