import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { CommandFault, EXIT_INTERRUPTED } from './arguments.js';

export interface PromptTerminal {
  readonly input: NodeJS.ReadableStream;
  readonly output: NodeJS.WritableStream;
}

/** Asks on the terminal and echoes the input. */
export function ask(question: string, { input, output }: PromptTerminal): Promise<string> {
  return answered(question, input, output, output);
}

/** Asks on the terminal without echoing the input. */
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
  const aborted = new AbortController();
  lines.on('SIGINT', () => {
    aborted.abort();
  });
  lines.on('close', () => {
    aborted.abort();
  });
  if (echo !== output) output.write(question);
  try {
    return await lines.question(echo === output ? question : '', { signal: aborted.signal });
  } catch {
    throw new CommandFault('interrupted', EXIT_INTERRUPTED);
  } finally {
    lines.close();
  }
}
