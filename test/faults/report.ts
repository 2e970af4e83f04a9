import type { CampaignOutcome } from './campaign.js';
import { seconds } from './in-words.js';
import { readyWithin, type Recovery } from './recovery.js';
import type { FaultRound } from './rounds.js';
import { doneIn, missedIn, notReached, shortcomings } from './tally.js';

interface Line {
  times: number;
  alone: number;
  longestMs: number;
  createlessMs: number;
}

/** The whole report of a run. */
export function reportOf(outcome: CampaignOutcome): string[] {
  const { tally, findings, requests, commands, codes, streams, recovery, isWhole } = outcome;
  const { rounds, notRun } = tally;
  const [faults, missed] = [sumOf(doneIn(rounds).values()), sumOf(rounds.map((round) => round.missed.size))];
  return [
    '',
    'faults by kind, and the longest time that a shard settled nothing, and opened nothing, when they came alone:',
    ...[...linesOf(rounds)].sort().map(([name, line]) => textOf(name, line)),
    `faults together: longest ${seconds(longestOf(rounds.filter(({ done }) => done.length > 1)))}`,
    '',
    ...[...missedIn(rounds)].sort().map(([name, { times, why }]) => `MISSED ${name}: ${times} times, ${why}`),
    ...[...notRun].map(([name, why]) => `NOT RUN ${name}: ${why}`),
    ...notReachedLines(notReached(tally)),
    `answers: ${inOrder(codes)}`,
    `ignored by readers of the journals: ${inOrder(outcome.ignored) || 'nothing'}`,
    `streams opened: ${streams}`,
    `looked at: ${inOrder(findings.checked)}`,
    ...(recovery === undefined ? [] : [recoveryLine(recovery)]),
    ...findings.lines,
    '',
    ...shortcomings(tally, isWhole ? findings.checked : undefined).map(
      (why) => `LOOKED AT TOO LITTLE: ${why}`,
    ),
    ...(isWhole ? [] : ['INTERRUPTED: journals, books, streams and what people were told were not judged']),
    `${faults} faults in ${rounds.length} rounds (${missed} missed, ${notRun.size} kinds not run), ${requests} requests, ` +
      `${commands} answers to commands ${isWhole ? 'checked' : 'heard'}, ${findings.found} violations`,
  ];
}

function notReachedLines(kinds: readonly string[]): string[] {
  return kinds.length === 0 ? [] : [`NOT REACHED in the time, ${kinds.length} kinds: ${kinds.join(', ')}`];
}

function linesOf(rounds: readonly FaultRound[]): Map<string, Line> {
  const lines = new Map<string, Line>();
  for (const { kinds, done, unavailableMs, createlessMs } of rounds) {
    for (const kind of done) {
      const line = lines.get(kind) ?? { times: 0, alone: 0, longestMs: 0, createlessMs: 0 };
      line.times += 1;
      if (kinds.length === 1) {
        line.alone += 1;
        line.longestMs = Math.max(line.longestMs, unavailableMs);
        line.createlessMs = Math.max(line.createlessMs, createlessMs);
      }
      lines.set(kind, line);
    }
  }
  return lines;
}

function textOf(name: string, { times, alone, longestMs, createlessMs }: Line): string {
  return `  ${name.padEnd(28)} ${String(times).padStart(4)}  ${alone === 0 ? 'never alone' : `${seconds(longestMs)}, creates ${seconds(createlessMs)}`}`;
}

function longestOf(rounds: readonly FaultRound[]): number {
  return Math.max(0, ...rounds.map(({ unavailableMs }) => unavailableMs));
}

function sumOf(counts: Iterable<number>): number {
  return [...counts].reduce((sum, count) => sum + count, 0);
}

function inOrder(counts: ReadonlyMap<string, number>): string {
  return [...counts]
    .sort()
    .map(([name, count]) => `${count} ${name}`)
    .join(', ');
}

function recoveryLine(recovery: Recovery): string {
  const { openAuctions, readyMs, servesMs } = recovery;
  const { millis, isPromise } = readyWithin(recovery);
  const late = readyMs > millis ? `LATER THAN THE ${seconds(millis)} THAT ARE WANTED` : 'as wanted';
  return (
    `recovery after kill -9 with ${openAuctions} open auctions: ready after ${seconds(readyMs)}, ` +
    `a command settled after ${seconds(servesMs)}: ${isPromise ? late : `too few to judge what is promised; ${seconds(millis)} are allowed`}`
  );
}
