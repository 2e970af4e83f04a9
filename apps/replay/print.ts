import { writeSync } from 'node:fs';
import { Socket } from 'node:net';
import { getSystemErrorMap } from 'node:util';

const STANDARD_OUTPUT = 1;
const STANDARD_ERROR = 2;

/** The verdict could not be written completely. */
export class OutputLost extends Error {
  override readonly name = 'OutputLost';
}

/**
 * Writes the whole line or throws, because the console ignores a full disk. A pipe may be closed early by its
 * reader.
 */
export function print(line: string): void {
  if (process.stdout instanceof Socket) process.stdout.write(`${line}\n`);
  else {
    try {
      writeWhole(STANDARD_OUTPUT, line);
    } catch (error) {
      throw new OutputLost(`cannot use standard output: ${reasonOf(error)}`);
    }
  }
}

/** Says why there is no verdict. If that cannot be written, the exit code still tells. */
export function complain(line: string): void {
  if (process.stderr instanceof Socket) process.stderr.write(`${line}\n`);
  else {
    try {
      writeWhole(STANDARD_ERROR, line);
    } catch {
      // Nothing is left to report it to.
    }
  }
}

function writeWhole(descriptor: number, line: string): void {
  const bytes = Buffer.from(`${line}\n`);
  for (let done = 0; done < bytes.length;) done += writeSync(descriptor, bytes, done);
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const known =
    'errno' in error && typeof error.errno === 'number' ? getSystemErrorMap().get(error.errno) : undefined;
  return known?.[1] ?? error.message;
}

for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
