import { Socket } from 'node:net';
import path from 'node:path';
import { asFileFault, isCodedError, StartFault } from '../process/start-fault.js';
import { tellFault } from './tool-faults.js';
import { writeWhole } from './standard-error.js';

const DESCRIPTOR = 1;
const NAME = 'standard output';
const [, script = ''] = process.argv;
const program = { name: path.basename(script, path.extname(script)) };
/** The effect of `| head`. */
const READER_LEFT: ReadonlySet<string> = new Set(['EPIPE', 'ECONNRESET']);

/**
 * Prints results whole or ends the program with a fault: a console ignores a full disk, and a stream a file that took only a part of
 * a text. A reader of a pipe that leaves is no fault.
 */
export function print(line: string): void {
  const text = `${line}\n`;
  if (process.stdout instanceof Socket) process.stdout.write(text);
  else writeOut(text);
}

/** For long output: resolves when it is written, with false once the reader has left. */
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

/** For a log. Losing its lines must not end the work; the loss is reported at the end. */
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

/** In a program with several tools, names the one that cannot print. */
export function speakAs(name: string): void {
  program.name = name;
}

function writeOut(text: string): void {
  try {
    writeWhole(DESCRIPTOR, text);
  } catch (error) {
    throw asLost(error);
  }
}

function asLost(error: unknown): StartFault {
  const reason = error instanceof Error ? error.message : String(error);
  return asFileFault(error, NAME) ?? new StartFault(`cannot use ${NAME}: ${reason}`);
}

process.stdout.on('error', (error) => {
  if (isCodedError(error) && READER_LEFT.has(error.code)) return;
  const fault = asLost(error);
  tellFault(program.name, process.argv, fault);
  process.exit(fault.exitCode);
});
