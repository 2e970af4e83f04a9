import { isConnectionFailure } from './postgres.js';
import { EXIT, isCodedError, StartFault } from './start-fault.js';

/** Invalid authorization, and a database of that name that is not there. */
const REFUSED = /^(?:28\w{3}|3D000)$/;

/** The server's disk is full or has failed, or it has no memory or no connection to spare. */
const OUT_OF_RESOURCES = /^(?:53\w{3}|58030)$/;

/** What is there is not damaged by it: as soon as there is room, the same start works. */
export function isOutOfResources(error: unknown): boolean {
  return isCodedError(error) && OUT_OF_RESOURCES.test(error.code);
}

/** What an operator can mend about a database by which a program cannot begin; undefined for anything else. */
export function asDatabaseFault(
  error: unknown,
  codeOfAway: number = EXIT.unavailable,
): StartFault | undefined {
  if (isOutOfResources(error)) return new StartFault(`the database cannot work: ${reasonOf(error)}`);
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
