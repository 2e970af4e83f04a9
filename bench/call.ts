import { parseArgs } from 'node:util';
import { UsageFault } from '#libs/platform/terminal/commands.js';
import type { Row } from './row.js';

export interface BenchCall {
  readonly rows: readonly Row[];
  readonly json: boolean;
  readonly quick: boolean;
  /** Whether a missed minimum fails the run. */
  readonly strict: boolean;
  readonly runs: number;
  readonly seconds: number;
  readonly trades: number;
  readonly folder: string;
  /** The folder for the profiles of all processes. */
  readonly profiles: string | undefined;
}

const RUNS = 5;
const SECONDS = 3;
const QUICK_SECONDS = 0.3;
const TRADES = 3_000_000;
const FOLDER = '.data/bench';

export function usageOf(rows: readonly Row[]): string {
  const width = Math.max(...rows.map(({ name }) => name.length));
  return `Usage: npm run bench -- [--only row,row] [--json] [--quick] [--strict] [--runs n] [--save folder]
       npm run -s bench -- row ... --json
       npm run bench -- orders [--only row,row]
       npm run bench -- data [--trades 30000000]

${rows.map(({ name, title }) => `  ${name.padEnd(width)}  ${title}`).join('\n')}

  --only     only these rows of those that are named; orders and data name all rows of a service
  --json     one JSON document on standard output instead of the table
  --quick    a short run of each, to see that it works: its figures mean nothing
  --strict   exit with 1 if a minimum is missed; without it that is only reported, because machines differ
  --runs n   runs for each figure; the median counts (default ${RUNS})
  --seconds  how long a run lasts (default ${SECONDS})
  --trades n rows of the larger table of data-trades (default ${TRADES})
  --save     folder for the JSON (default ${FOLDER})
  --profile  empty folder for a processor profile of every process; prints the share of each part; slows the run down`;
}

/** Undefined if the call only asks for help. */
export function callOf(
  args: readonly string[],
  all: readonly Row[],
  groups: ReadonlyMap<string, readonly Row[]> = new Map(),
): BenchCall | undefined {
  const { values, positionals } = parsed(args);
  if (values.help === true) return undefined;
  const named = positionals.flatMap((name) => groups.get(name) ?? rowNamed(name, all));
  const rows = chosen(named.length === 0 ? all : named, values.only?.split(','));
  const quick = values.quick === true;
  const runs = numberOf('--runs', values.runs, quick ? 1 : RUNS);
  const seconds = numberOf('--seconds', values.seconds, quick ? QUICK_SECONDS : SECONDS);
  const trades = numberOf('--trades', values.trades, TRADES);
  const { json = false, strict = false, save: folder = FOLDER, profile: profiles } = values;
  if (quick && strict)
    throw new UsageFault('the figures of --quick mean nothing, so --strict has nothing to judge');
  return { rows, json, quick, strict, runs, seconds, trades, folder, profiles };
}

function numberOf(name: string, text: string | undefined, fallback: number): number {
  const value = text === undefined ? fallback : Number(text);
  if (!(value > 0)) throw new UsageFault(`${name} must be a number above 0`);
  return value;
}

function chosen(rows: readonly Row[], only: readonly string[] | undefined): readonly Row[] {
  return only === undefined ? rows : only.map((name) => rowNamed(name, rows));
}

function rowNamed(name: string, all: readonly Row[]): Row {
  const row = all.find((one) => one.name === name);
  if (row === undefined) throw new UsageFault(`there is no row ${name}`);
  return row;
}

function parsed(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        only: { type: 'string' },
        json: { type: 'boolean' },
        quick: { type: 'boolean' },
        strict: { type: 'boolean' },
        runs: { type: 'string' },
        seconds: { type: 'string' },
        trades: { type: 'string' },
        save: { type: 'string' },
        profile: { type: 'string' },
        help: { type: 'boolean', short: 'h' },
      },
    });
  } catch (error) {
    throw new UsageFault(error instanceof Error ? error.message : String(error));
  }
}
