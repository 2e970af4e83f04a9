import { writeSync } from 'node:fs';

/** To a file, or a device such as /dev/full: each call may take less than it was given, and only the next one says why. */
export function writeWhole(descriptor: number, text: string): void {
  const bytes = Buffer.from(text);
  for (let done = 0; done < bytes.length;) done += writeSync(descriptor, bytes, done);
}
