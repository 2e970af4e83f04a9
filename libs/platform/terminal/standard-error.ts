import { writeSync } from 'node:fs';
import { Socket } from 'node:net';

const DESCRIPTOR = 2;

/**
 * A line about the work, or why it ended. If it cannot be written, on a full disk or after the reader has left, results and exit
 * code stay the same.
 */
export function mention(line: string): void {
  const text = `${line}\n`;
  if (process.stderr instanceof Socket) {
    process.stderr.write(text);
    return;
  }
  try {
    writeWhole(DESCRIPTOR, text);
  } catch {
    // There is no place left to report it.
  }
}

/** To a file, or a device such as /dev/full: each call may take only a part, and only the next one says why. */
export function writeWhole(descriptor: number, text: string): void {
  const bytes = Buffer.from(text);
  for (let done = 0; done < bytes.length;) done += writeSync(descriptor, bytes, done);
}

process.stderr.on('error', () => undefined);
