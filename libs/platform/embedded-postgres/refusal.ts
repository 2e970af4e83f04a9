import { EXIT } from '../process/start-fault.js';

/** What goes wrong before the server can log comes as a plain line of the program: `postgres: could not access ...`. */
const REASONS = /(?:FATAL|PANIC|^postgres):\s+(.*)/gm;
/** As the C library words them: before a connection there is no code. */
const OF_THE_DISK = /No space left on device|Disk quota exceeded|Input\/output error|Read-only file system/;
/** A piece of the write-ahead log: without room for one it cannot begin. Its own log may be on the same disk, and hold no reason then. */
const LEAST_ROOM = 16 * 2 ** 20;

export interface PostgresRefusal {
  readonly reason: string;
  readonly exitCode: number;
}

/** From what the server has logged since it was started, and how many bytes its disk still takes. */
export function whyItRefuses(log: string, room: number): PostgresRefusal {
  const reasons = [...log.matchAll(REASONS)].map(([, reason = '']) => reason);
  const ofTheDisk = reasons.find((reason) => OF_THE_DISK.test(reason));
  if (ofTheDisk !== undefined) return { reason: ofTheDisk, exitCode: EXIT.unavailable };
  const [first] = reasons;
  if (first !== undefined) return { reason: first, exitCode: EXIT.damaged };
  if (room >= LEAST_ROOM) return { reason: 'it gave no reason', exitCode: EXIT.damaged };
  return { reason: 'no space left on the device', exitCode: EXIT.unavailable };
}
