import { Socket } from 'node:net';
import path from 'node:path';
import { asFileFault, isCodedError, StartFault } from '../process/start-fault.js';
import { tellFault } from './tool-faults.js';
import { writeWhole } from './standard-error.js';

const DESCRIPTOR = 1;
const NAME = 'standard output';
const [, script = ''] = process.argv;
const program = { name: path.basename(script, path.extname(script)) };
/** Codes after the reader of a pipe has closed it, as `| head` does. */
const READER_CLOSED: ReadonlySet<string> = new Set(['EPIPE', 'ECONNRESET']);

/**
 * Prints a line completely, or throws. (`console` ignores a full disk, and a stream ignores a partial write to a file.) A reader
 * that closes its pipe is no fault.
 */
export function print(line: string): void {
  const text = `${line}\n`;
  if (process.stdout instanceof Socket) process.stdout.write(text);
  else writeOut(text);
}

/** For long output. Resolves when the text is written, with false if the reader has closed. */
export async function printed(text: string): Promise<boolean> {
  const { stdout } = process;
  if (stdout instanceof Socket) {
    return await new Promise((resolve) => {
      stdout.write(text, (error) => resolve(error === undefined || error === null));
    });
  }
  writeOut(text);
  return true;
}

/** A log on standard output. Lost lines do not stop the work, and are reported at the end. */
export class PrintedLog {
  private fault: StartFault | undefined;

  get lost(): StartFault | undefined {
    return this.fault;
  }

  write(line: string): void {
    try {
      print(line.trimEnd());
    } catch (error) {
      if (!(error instanceof StartFault)) throw error;
      this.fault ??= error;
    }
  }
}

/** Sets the name in a fault of printing, for a program with several tools. */
export function speakAs(name: string): void {
  program.name = name;
}

function writeOut(text: string): void {
  try {
    writeWhole(DESCRIPTOR, text);
  } catch (error) {
    throw asOutputFault(error);
  }
}

function asOutputFault(error: unknown): StartFault {
  const reason = error instanceof Error ? error.message : String(error);
  return asFileFault(error, NAME) ?? new StartFault(`cannot use ${NAME}: ${reason}`);
}

process.stdout.on('error', (error) => {
  if (isCodedError(error) && READER_CLOSED.has(error.code)) return;
  const fault = asOutputFault(error);
  tellFault(program.name, process.argv, fault);
  process.exit(fault.exitCode);
});
