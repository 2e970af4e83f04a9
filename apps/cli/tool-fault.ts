import { JournalUnavailable, JournalUnreadable } from '#libs/journal/journal-errors.js';
import { asDatabaseFault } from '#libs/platform/database/database-fault.js';
import { asStartFault, EXIT, isCodedError, StartFault } from '#libs/platform/process/start-fault.js';

/** SQL states: no such table, column, function or schema. */
const NOT_THERE = /^(?:42P01|42703|42883|3F000)$/;
const INSUFFICIENT_PRIVILEGE = '42501';

/** Faults that an operator can fix. Undefined for anything else, which is a bug. */
export function asToolFault(error: unknown): StartFault | undefined {
  return asStartFault(error) ?? asUnread(error) ?? asDatabaseFault(error) ?? asForeignDatabase(error);
}

function asUnread(error: unknown): StartFault | undefined {
  const isAway = error instanceof JournalUnreadable || error instanceof JournalUnavailable;
  return isAway ? new StartFault(error.message) : undefined;
}

/** The database or the role of DATABASE_URL does not fit this release. */
function asForeignDatabase(error: unknown): StartFault | undefined {
  if (!isCodedError(error)) return undefined;
  if (NOT_THERE.test(error.code)) {
    return new StartFault(
      `the database is not one of this release (${error.message}): run the migration of this release first`,
      EXIT.config,
    );
  }
  if (error.code !== INSUFFICIENT_PRIVILEGE) return undefined;
  return new StartFault(`the role of DATABASE_URL may not do this: ${error.message}`, EXIT.config);
}
