import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { blocksOf } from './markdown.js';

export interface DocumentedStep {
  readonly command: string;
  /** The documented output; undefined if none is shown. */
  readonly prints: string | undefined;
}

const PATIENCE_MS = 40_000;
const MARK = '=== end of step';

/** The blocks that a reader is asked to paste, each with the output shown after it. */
export function stepsOf(markdown: string): DocumentedStep[] {
  const steps: DocumentedStep[] = [];
  for (const { marker, text } of blocksOf(markdown)) {
    if (marker === 'run') steps.push({ command: text, prints: undefined });
    const last = steps.at(-1);
    if (marker === 'prints' && last !== undefined) steps[steps.length - 1] = { ...last, prints: text };
  }
  return steps;
}

/** Pastes all of it into one shell, word for word, and returns the output of each step. */
export async function paste(
  steps: readonly DocumentedStep[],
  environment: Readonly<Record<string, string>>,
): Promise<string[]> {
  const folder = mkdtempSync(path.join(tmpdir(), 'pasted-'));
  const script = steps.map(({ command }) => `${command}\necho '${MARK}'\n`).join('');
  try {
    const { stdout } = await promisify(execFile)('bash', ['-eo', 'pipefail', '-c', script], {
      cwd: folder,
      env: { ...process.env, ...environment },
      timeout: PATIENCE_MS,
    });
    return stdout.split(`${MARK}\n`).slice(0, -1);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
