import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { ObservedExchange } from '#libs/client/observer.js';
import { EXCHANGES_FILE, FRAMES_FILE, type RecordedFrame } from './recorder.js';

/** Where within a recording that stands which was heard on the tour that examples are taken from. */
export const TOUR = 'tour';

/** Everything that was kept of a run. */
export interface Recording {
  readonly exchanges: readonly ObservedExchange[];
  readonly frames: readonly RecordedFrame[];
}

export function readRecording(folder: string): Recording {
  return {
    exchanges: linesOf(path.join(folder, EXCHANGES_FILE)) as ObservedExchange[],
    frames: linesOf(path.join(folder, FRAMES_FILE)) as RecordedFrame[],
  };
}

function linesOf(file: string): unknown[] {
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, 'utf8').split('\n');
  return lines.filter((line) => line !== '').map((line): unknown => JSON.parse(line));
}
