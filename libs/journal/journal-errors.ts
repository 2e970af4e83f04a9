import { EXIT, StartFault } from '#libs/platform/process/start-fault.js';

/** A call that breaks a limit. Nothing of it was written; the writer lives on. */
export class JournalRefused extends Error {
  override readonly name = 'JournalRefused';
}

/** The end of a writer. Which one says what is known of the call's payloads. */
export abstract class JournalFailure extends Error {
  constructor(
    readonly shard: number,
    reason: string,
    options?: ErrorOptions,
  ) {
    const named = `journal of shard ${shard}`;
    // What damage says of itself names it already.
    super(reason.startsWith(named) ? reason : `${named}: ${reason}`, options);
  }
}

/** Somebody else is the writer now. Nothing of this call was written. */
export class JournalFenced extends JournalFailure {
  override readonly name = 'JournalFenced';
}

/** The store cannot be used. Nothing of this call was written, and nothing of it will be. */
export class JournalUnavailable extends JournalFailure {
  override readonly name = 'JournalUnavailable';
}

/** The call may or may not have been written, whole or not at all; only reading the journal will tell. */
export class JournalAmbiguous extends JournalFailure {
  override readonly name = 'JournalAmbiguous';
}

/** A reader could not ask; asking again later may help. */
export class JournalUnreadable extends Error {
  override readonly name = 'JournalUnreadable';
}

/** For a start that has to read: it is refused in one line, and the next one may be able to. */
export function refuseUnreadable(error: unknown): never {
  throw error instanceof JournalUnreadable ? new StartFault(error.message) : error;
}

/** What is stored is not what was written: whoever meets it while it starts does not, and another start changes nothing. */
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

/** Of a shard's journal, or of the topic in which it should be. */
export function isDamage(error: unknown): error is StartFault {
  return error instanceof StartFault && error.exitCode === EXIT.damaged;
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
