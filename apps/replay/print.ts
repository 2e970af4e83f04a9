import { writeSync } from 'node:fs';
import { Socket } from 'node:net';
import { getSystemErrorMap } from 'node:util';

const STANDARD_OUTPUT = 1;
const STANDARD_ERROR = 2;

/** A verdict that nobody has been given: what stands in the file is not all of it. */
export class OutputLost extends Error {
  override readonly name = 'OutputLost';
}

/** Whole, or it fails: a console says nothing of a full disk. Whoever reads through a pipe may have read enough. */
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

/** Why there is no verdict. Where nobody takes it, the exit code still says so. */
export function complain(line: string): void {
  if (process.stderr instanceof Socket) process.stderr.write(`${line}\n`);
  else {
    try {
      writeWhole(STANDARD_ERROR, line);
    } catch {
      // There is no place left to say it.
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
