import { mkdir, writeFile } from 'node:fs/promises';
import { cpus, loadavg } from 'node:os';
import path from 'node:path';
import { rounded } from './alternating.js';
import type { RowCheck, RowOutcome, Row } from './row.js';

export interface BenchReport {
  readonly taken_at: string;
  readonly machine: { readonly processors: number; readonly model: string; readonly load: readonly number[] };
  readonly quick: boolean;
  readonly rows: readonly (RowOutcome & { readonly name: string; readonly title: string })[];
}

const HEAD = ['path', 'measured', 'baseline', 'score', 'minimum', 'goal', 'met'];

export function reportOf(
  results: readonly { readonly row: Row; readonly outcome: RowOutcome }[],
  quick: boolean,
  now: Date,
): BenchReport {
  const [processor] = cpus();
  return {
    taken_at: now.toISOString(),
    machine: { processors: cpus().length, model: processor?.model ?? '', load: loadavg() },
    quick,
    rows: results.map(({ row: { name, title }, outcome }) => ({ name, title, ...outcome })),
  };
}

/** A table with columns of equal width. */
export function tableOf({ rows }: BenchReport): string[] {
  const lines = [HEAD, ...rows.flatMap(({ name, checks }) => checks.map((check) => cellsOf(name, check)))];
  const widths = HEAD.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  return lines.map((line) =>
    line
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}

/** Missed minimums, one line each. */
export function missedIn({ rows }: BenchReport): string[] {
  return rows.flatMap(({ name, checks }) =>
    checks
      .filter((check) => check.minimum !== undefined && !reaches(check, check.minimum))
      .map(({ what, score, asks, minimum }) => {
        return `${name}: ${what}: ${score.toPrecision(3)}, but the minimum is ${asks} ${minimum}`;
      }),
  );
}

function cellsOf(name: string, check: RowCheck): string[] {
  const { what, unit, measured, baseline, score, asks, minimum, goal } = check;
  const sign = asks === 'at least' ? '>=' : '<=';
  return [
    `${name}: ${what}`,
    `${rounded(measured)} ${unit}`,
    baseline === undefined ? '-' : `${rounded(baseline.measured)} (${baseline.name})`,
    score.toPrecision(3),
    minimum === undefined ? '-' : `${sign} ${minimum}`,
    goal === undefined ? '-' : `${sign} ${goal}`,
    verdictOn(check),
  ];
}

function verdictOn(check: RowCheck): string {
  const { minimum, goal } = check;
  if (minimum === undefined || goal === undefined) return 'for comparison';
  if (reaches(check, goal)) return 'goal';
  return reaches(check, minimum) ? 'yes' : 'NO';
}

function reaches({ score, asks }: RowCheck, bound: number): boolean {
  return asks === 'at least' ? score >= bound : score <= bound;
}

/** Named by the time of the report, so that no earlier one is overwritten. */
export async function save(report: BenchReport, folder: string): Promise<string> {
  await mkdir(folder, { recursive: true });
  const file = path.join(folder, `${report.taken_at.replaceAll(/[:.]/g, '-')}.json`);
  await writeFile(file, `${JSON.stringify(report, undefined, 2)}\n`);
  return file;
}
