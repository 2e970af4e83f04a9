import { Socket } from 'node:net';
import { writeWhole } from './write-whole.js';

const DESCRIPTOR = 2;

/**
 * A line about the work, or why it ended. Results and exit code stay the same where it cannot be written: on a full disk, or when the
 * reader has left.
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
    // There is no place left to say it.
  }
}

process.stderr.on('error', () => undefined);
