import { EXIT, StartFault } from '#libs/platform/process/start-fault.js';

/** A call that breaks a limit. Nothing of it was written; the writer continues. */
export class JournalRefused extends Error {
  override readonly name = 'JournalRefused';
}

/** The end of a writer. The subclass tells what is known of the call's payloads. */
export abstract class JournalFailure extends Error {
  constructor(
    readonly shard: number,
    reason: string,
    options?: ErrorOptions,
  ) {
    const named = `journal of shard ${shard}`;
    // The message of a JournalCorrupt begins with the journal's name.
    super(reason.startsWith(named) ? reason : `${named}: ${reason}`, options);
  }
}

/** Another writer has taken the shard. Nothing of this call was written. */
export class JournalFenced extends JournalFailure {
  override readonly name = 'JournalFenced';
}

/** The store is unusable. Nothing of this call was written, and nothing will be. */
export class JournalUnavailable extends JournalFailure {
  override readonly name = 'JournalUnavailable';
}

/** The call may or may not have been written, whole or not at all; only reading the journal will tell. */
export class JournalAmbiguous extends JournalFailure {
  override readonly name = 'JournalAmbiguous';
}

/** The store did not answer a reader. A later attempt may succeed. */
export class JournalUnreadable extends Error {
  override readonly name = 'JournalUnreadable';
}

/** Turns an unreadable store into a failed start, reported in one line. A later start may succeed. */
export function refuseUnreadable(error: unknown): never {
  throw error instanceof JournalUnreadable ? new StartFault(error.message) : error;
}

/** The stored records are not those that were written. A process that meets this does not start, and a retry changes nothing. */
export class JournalCorrupt extends StartFault {
  override readonly name = 'JournalCorrupt';

  constructor(
    readonly shard: number,
    readonly sequence: number,
    readonly reason: string,
  ) {
    super(`journal of shard ${shard} is corrupt at sequence ${sequence}: ${reason}`, EXIT.damaged);
  }
}

/** Whether the error reports a damaged journal. Its message names the shard or the topic. */
export function isDamage(error: unknown): error is StartFault {
  return error instanceof StartFault && error.exitCode === EXIT.damaged;
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
