import { createInterface } from 'node:readline/promises';
import { CommandFault, EXIT_REFUSED } from '../ops/arguments.js';
import { askHidden } from '../ops/hidden-prompt.js';

/** The minimum that NIST SP 800-63B-4 recommends where a password is the only factor. */
const MIN_LENGTH = 15;
/** The most that a login accepts. */
const MAX_LENGTH = 1_024;

export interface Keyboard {
  readonly input: NodeJS.ReadableStream & { readonly isTTY?: boolean };
  readonly output: NodeJS.WritableStream;
}

/**
 * Reads from the keyboard or standard input. On the command line every process of the machine could read it.
 */
export async function newPassword(email: string, keyboard: Keyboard): Promise<string> {
  const password =
    keyboard.input.isTTY === true ? await typed(email, keyboard) : await firstLine(keyboard.input);
  const { length } = password;
  if (length < MIN_LENGTH) throw refused(`a password has at least ${MIN_LENGTH} characters`);
  if (length > MAX_LENGTH) throw refused(`a password has at most ${MAX_LENGTH} characters`);
  return password;
}

async function typed(email: string, keyboard: Keyboard): Promise<string> {
  const password = await askHidden(`New password of ${email}: `, keyboard);
  if (password !== (await askHidden('Once more: ', keyboard))) throw refused('the two passwords differ');
  return password;
}

async function firstLine(input: NodeJS.ReadableStream): Promise<string> {
  for await (const line of createInterface({ input })) return line;
  throw refused('no password on standard input');
}

function refused(message: string): CommandFault {
  return new CommandFault(message, EXIT_REFUSED);
}
