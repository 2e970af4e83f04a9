import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';

export interface ToolRun {
  readonly code: number | null;
  readonly output: string;
  readonly errors: string;
}

/** A program below `dist`, with the first of its arguments behind it, as npm runs it from a shell, until it ends. */
export async function runTool(
  program: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  input = '',
): Promise<ToolRun> {
  const child = spawn(process.execPath, ['tools/run.mjs', ...program.split(' '), ...args], {
    env: { PATH: process.env.PATH, ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  // Who ends without reading it has heard enough.
  child.stdin.on('error', () => undefined);
  child.stdin.end(input);
  const [output, errors, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close') as Promise<[number | null]>,
  ]);
  return { code, output, errors };
}
