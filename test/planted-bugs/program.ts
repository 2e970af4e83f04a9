import { spawn } from 'node:child_process';

export interface ProgramExit {
  readonly code: number | null;
  readonly output: string;
}

/** Runs a program of this project to its end. */
export function runToEnd(folder: string, args: readonly string[]): Promise<ProgramExit> {
  const child = spawn(process.execPath, args, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
  return new Promise((resolve) => {
    child.on('close', (code) => {
      resolve({ code, output });
    });
  });
}
