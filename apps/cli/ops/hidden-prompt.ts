import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { CommandFault, EXIT_INTERRUPTED } from './arguments.js';

export interface PromptTerminal {
  readonly input: NodeJS.ReadableStream;
  readonly output: NodeJS.WritableStream;
}

/** Asks on the terminal; what is typed shows. */
export function ask(question: string, { input, output }: PromptTerminal): Promise<string> {
  return answered(question, input, output, output);
}

/** The same, and what is typed does not show. */
export async function askHidden(question: string, { input, output }: PromptTerminal): Promise<string> {
  const silence = new Writable({
    write: (_chunk, _encoding, done) => {
      done();
    },
  });
  try {
    return await answered(question, input, silence, output);
  } finally {
    output.write('\n');
  }
}

async function answered(
  question: string,
  input: NodeJS.ReadableStream,
  echo: NodeJS.WritableStream,
  output: NodeJS.WritableStream,
): Promise<string> {
  const lines = createInterface({ input, output: echo, terminal: true });
  const given = new AbortController();
  lines.on('SIGINT', () => {
    given.abort();
  });
  lines.on('close', () => {
    given.abort();
  });
  if (echo !== output) output.write(question);
  try {
    return await lines.question(echo === output ? question : '', { signal: given.signal });
  } catch {
    throw new CommandFault('interrupted', EXIT_INTERRUPTED);
  } finally {
    lines.close();
  }
}
