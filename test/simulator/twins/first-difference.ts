import type { TranscriptLine, TwinTranscript } from './transcript.js';

export interface TranscriptDifference {
  readonly what: string;
  /** When the first of the two was told it. */
  readonly atNanos: number;
}

/**
 * Where one transcript says other than another what came by `settledNanos`. Two lives of one world are not told at the very same
 * instant, so wherever a line is drawn something may come just before it in one and just behind it in the other. What follows the line
 * in both is there to be found by what came late, and counts for nothing of its own.
 */
export function firstDifference(
  crowded: TwinTranscript,
  quiet: TwinTranscript,
  observers: readonly string[],
  settledNanos: number,
): TranscriptDifference | undefined {
  const isSettled = (line: TranscriptLine | undefined): boolean =>
    line !== undefined && line.atNanos <= settledNanos;
  for (const way of observers.flatMap((one) => [
    ...new Set([...crowded.waysOf(one), ...quiet.waysOf(one)]),
  ])) {
    const [one, other] = [crowded.on(way), quiet.on(way)];
    for (let index = 0; isSettled(one[index]) || isSettled(other[index]); index += 1) {
      const [here, there] = [one[index]?.text, other[index]?.text];
      if (here === there) continue;
      return {
        what: `${way} ${index}: with competitors ${here ?? 'nothing'}, without ${there ?? 'nothing'}`,
        atNanos: Math.min(one[index]?.atNanos ?? Infinity, other[index]?.atNanos ?? Infinity),
      };
    }
  }
  return undefined;
}
