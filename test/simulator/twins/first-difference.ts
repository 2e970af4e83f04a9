import type { TranscriptLine, TwinTranscript } from './transcript.js';

export interface TranscriptDifference {
  readonly what: string;
  /** The earlier of the two times. */
  readonly atNanos: number;
}

/**
 * The first difference between two transcripts among entries up to `settledNanos`. Two runs receive the same at
 * slightly different instants, so an entry just before the line in one may come just after it in the other.
 * Entries after the line only serve to match late ones.
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
