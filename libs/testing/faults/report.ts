import { seconds, type Outcome } from './campaign.js';
import { readyWithin, type Recovery } from './recovery.js';
import type { Round } from './rounds.js';

interface Line {
  times: number;
  alone: number;
  longestMs: number;
  createlessMs: number;
}

/** The whole of it, for whoever reads the output of a run. */
export function reportOf(outcome: Outcome): string[] {
  const { rounds, notRun, findings, requests, commands, codes, streams, recovery } = outcome;
  const faults = rounds.reduce((sum, { kinds }) => sum + kinds.length, 0);
  return [
    '',
    'faults by kind, and the longest time that a shard settled nothing, and opened nothing, when they came alone:',
    ...[...linesOf(rounds)].sort().map(([name, line]) => textOf(name, line)),
    `faults together: longest ${seconds(longestOf(rounds.filter(({ kinds }) => kinds.length > 1)))}`,
    '',
    ...[...notRun].map(([name, why]) => `NOT RUN ${name}: ${why}`),
    `answers: ${inOrder(codes)}`,
    `ignored by readers of the journals: ${inOrder(outcome.ignored) || 'nothing'}`,
    `streams opened: ${streams}`,
    `looked at: ${inOrder(findings.checked)}`,
    ...(recovery === undefined ? [] : [recoveryLine(recovery)]),
    ...findings.violations.map((violation) => `VIOLATION ${violation}`),
    '',
    `${faults} faults in ${rounds.length} rounds (${notRun.size} kinds not run), ${requests} requests, ` +
      `${commands} answers to commands checked, ${findings.found} violations`,
    ...(findings.found === 0 ? [] : [`logs: ${outcome.logFolder}`]),
  ];
}

function linesOf(rounds: readonly Round[]): Map<string, Line> {
  const lines = new Map<string, Line>();
  for (const { kinds, unavailableMs, createlessMs } of rounds) {
    for (const kind of kinds) {
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

function longestOf(rounds: readonly Round[]): number {
  return Math.max(0, ...rounds.map(({ unavailableMs }) => unavailableMs));
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
