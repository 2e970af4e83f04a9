import type { z } from 'zod';
import { LiveReadFailed } from '../live-reads/port.js';
import { isQuarantined, readBody } from './reading.js';
import { VenueUnreachable, type PublicRead, type PublicReads, type PublicReply } from './public-reads.js';

const NEVER = new AbortController().signal;
const RATE_LIMITED = 429;

/** One attempt and no retry, because a caller waits. */
export async function liveReply(reads: PublicReads, read: PublicRead): Promise<PublicReply> {
  try {
    return await reads.reply(read, NEVER);
  } catch (error) {
    if (!(error instanceof VenueUnreachable)) throw error;
    throw new LiveReadFailed(error.message, error.status === RATE_LIMITED ? RATE_LIMITED : 502);
  }
}

export function liveValue<T>(what: string, { status, body }: PublicReply, shape: z.ZodType<T>): T {
  if (status < 200 || status > 299) throw new LiveReadFailed(`${what}: status ${String(status)}`);
  const read = readBody(what, body, shape);
  if (isQuarantined(read)) throw new LiveReadFailed(read.quarantined);
  return read.value;
}
