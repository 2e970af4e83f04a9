import type { Pool } from 'pg';
import type { JournalReader } from '#libs/journal/journal.js';
import type { Clock } from '#libs/platform/time/clock.js';
import { projectionLag, type ShardLag } from '#libs/projecting/following/lag.js';
import { EXIT } from '#libs/platform/process/start-fault.js';
import { auctionProjection } from '#libs/auction/projections/projection.js';
import { compareProjection, type TableComparison } from '#libs/projecting/rebuild/compare.js';
import { Rebuild } from '#libs/projecting/rebuild/rebuild.js';
import { visible, visibleJson } from '#libs/platform/terminal/visible-text.js';

export type ProjectionCommand = 'lag' | 'compare' | 'rebuild';

export interface CommandOptions {
  readonly shard?: number;
  readonly json: boolean;
}

export interface ProjectionPorts {
  readonly pool: Pool;
  readonly reader: JournalReader;
  readonly clock: Clock;
}

export type PrintLine = (line: string) => void;

/** Resolves with the exit code. */
export function runProjectionCommand(
  command: ProjectionCommand,
  options: CommandOptions,
  ports: ProjectionPorts,
  printLine: PrintLine,
): Promise<number> {
  switch (command) {
    case 'lag':
      return lag(options, ports, printLine);
    case 'compare':
      return compare(options, ports, printLine);
    case 'rebuild':
      return rebuild(options, ports, printLine);
  }
}

async function lag(
  { shard, json }: CommandOptions,
  { pool, reader }: ProjectionPorts,
  printLine: PrintLine,
): Promise<number> {
  const all = await projectionLag({ pool, reader, projection: auctionProjection });
  const shards = all.filter((row) => shard === undefined || row.shard === shard);
  if (json) printLine(JSON.stringify({ shards }));
  else for (const row of shards) printLine(lagLine(row));
  return shards.some(isBeyondEnd) ? EXIT.damaged : 0;
}

function isBeyondEnd({ lag }: ShardLag): boolean {
  return lag < 0;
}

function lagLine(row: ShardLag): string {
  const progress = `shard ${row.shard}: ${row.position} of ${row.head}`;
  return isBeyondEnd(row) ? `${progress}, BEYOND the end of its journal` : `${progress}, lag ${row.lag}`;
}

async function compare(
  { shard, json }: CommandOptions,
  ports: ProjectionPorts,
  printLine: PrintLine,
): Promise<number> {
  const tables = await compareProjection(auctionProjection, ports, shard);
  const equal = tables.every(({ differing }) => differing === 0);
  if (json) printLine(visibleJson({ equal, tables }));
  else for (const line of tables.flatMap(comparisonLines)) printLine(visible(line));
  return equal ? 0 : 1;
}

function comparisonLines({ table, rows, differing, differences }: TableComparison): string[] {
  if (differing === 0) return [`${table}: ${rows} rows, all equal to the journal`];
  const shown = differences.map(({ key, kind, columns }) => {
    return `  ${key.join(' ')}: ${kind}${columns.length === 0 ? '' : ` in ${columns.join(', ')}`}`;
  });
  const rest = differing > shown.length ? [`  and ${differing - shown.length} more`] : [];
  return [`${table}: ${rows} rows, ${differing} different from the journal`, ...shown, ...rest];
}

async function rebuild(
  { shard, json }: CommandOptions,
  ports: ProjectionPorts,
  printLine: PrintLine,
): Promise<number> {
  const printProgress: PrintLine = json ? () => undefined : printLine;
  await new Rebuild(auctionProjection, { ...ports, say: printProgress }).run(shard);
  if (json) printLine(JSON.stringify({ rebuilt: shard === undefined ? 'all' : [shard] }));
  return 0;
}
