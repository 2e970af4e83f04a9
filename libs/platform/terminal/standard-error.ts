import { writeSync } from 'node:fs';
import { Socket } from 'node:net';

const DESCRIPTOR = 2;

/**
 * Prints a line about progress or a fault. If it cannot be written, because the disk is full or the reader has closed, results
 * and exit code stay the same.
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
    // There is nowhere left to report it.
  }
}

/** Writes to a file or device. A call may write only a part, and then only the next call fails with the reason. */
export function writeWhole(descriptor: number, text: string): void {
  const bytes = Buffer.from(text);
  for (let done = 0; done < bytes.length;) done += writeSync(descriptor, bytes, done);
}

process.stderr.on('error', () => undefined);
