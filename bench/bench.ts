import { mention } from '#libs/platform/terminal/standard-error.js';
import { print } from '#libs/platform/terminal/standard-output.js';
import { codeOf } from '#libs/platform/terminal/tool-faults.js';
import { UsageFault } from '#libs/platform/terminal/commands.js';
import { callOf, usageOf, type BenchCall } from './call.js';
import { Ground } from './ground/ground.js';
import { OwnProfile } from './profiles/own-profile.js';
import { linesOfProfiles } from './profiles/tell.js';
import { missedIn, reportOf, save, tableOf } from './report.js';
import type { RowOutcome, Row } from './row.js';
import { ROW_GROUPS, ROWS } from './rows/all-rows.js';

const EXIT_USAGE = 64;
const EXIT_MISSED = 1;
const KEEP_ALIVE_MS = 1_000;

/**
 * Measures the product and its baselines: see docs/understand/performance.md. Resolves with the exit code.
 */
async function main(args: readonly string[]): Promise<number> {
  let call: BenchCall | undefined;
  try {
    call = callOf(args, ROWS, ROW_GROUPS);
  } catch (error) {
    if (!(error instanceof UsageFault)) throw error;
    mention(`bench: ${error.message}\n\n${usageOf(ROWS)}`);
    return EXIT_USAGE;
  }
  if (call === undefined) {
    print(usageOf(ROWS));
    return 0;
  }
  const report = reportOf(await profiled(call, () => measured(call)), call.quick, new Date());
  const file = await save(report, call.folder);
  if (call.json) print(JSON.stringify(report));
  else for (const line of tableOf(report)) print(line);
  mention(`bench: saved in ${file}`);
  if (call.quick) return 0;
  const missed = missedIn(report);
  for (const line of missed) mention(`bench: MISSED ${line}`);
  return call.strict && missed.length > 0 ? EXIT_MISSED : 0;
}

/** Every process of a cluster writes its profile when it ends, so profiles are read after all have ended. */
async function profiled<T>({ profiles }: BenchCall, work: () => Promise<T>): Promise<T> {
  if (profiles === undefined) return work();
  const own = await OwnProfile.begin();
  const result = await work();
  await own.end(profiles);
  for (const line of await linesOfProfiles(profiles)) mention(`bench: profile of ${line}`);
  return result;
}

async function measured({
  rows,
  quick,
  runs,
  seconds,
  trades,
  profiles,
}: BenchCall): Promise<{ row: Row; outcome: RowOutcome }[]> {
  const ground = new Ground(profiles);
  // Clusters do not keep this process alive, but their end must be awaited.
  const keepAlive = setInterval(() => undefined, KEEP_ALIVE_MS);
  const results: { row: Row; outcome: RowOutcome }[] = [];
  try {
    for (const row of rows) {
      mention(`bench: ${row.title}`);
      const outcome = await row.run(ground, {
        runs,
        quick,
        seconds,
        trades,
        say: (line) => {
          mention(`bench: ${row.name}: ${line}`);
        },
      });
      results.push({ row, outcome });
    }
  } catch (error) {
    console.error(error);
    throw error;
  } finally {
    await ground.end();
    clearInterval(keepAlive);
  }
  return results;
}

process.exitCode = await codeOf('bench', () => main(process.argv.slice(2)));
