import { secondsOf } from '#libs/base/instant.js';
import { spawnSync } from 'node:child_process';
import { Worker } from 'node:worker_threads';
import { print } from '#libs/platform/terminal/standard-output.js';
import { codeOf } from '#libs/platform/terminal/tool-faults.js';
import { campaign, type CampaignResult } from './campaign/campaign.js';
import { readCall, USAGE, type SimulateCall } from './campaign/call.js';
import { missedGoals, OUT_OF_REACH } from './campaign/coverage-goals.js';
import type { Searched } from './campaign/search.js';
import { SearchThread } from './campaign/thread.js';
import type { TrialName } from './campaign/trials.js';

const PROGRESS_EVERY = 100;
const LAST_LINES = 120;
const EXIT_USAGE = 64;

function commit(): string {
  const asked = spawnSync('git', ['describe', '--always', '--dirty'], { encoding: 'utf8' });
  return asked.status === 0 ? asked.stdout.trim() : 'unknown';
}

function threadOf({ patienceSeconds }: SimulateCall): SearchThread {
  const script = new URL('./campaign/worker.js', import.meta.url);
  return new SearchThread(() => new Worker(script), patienceSeconds);
}

async function explain({ seed, trial, violation, digest }: Searched, call: SimulateCall): Promise<void> {
  if (violation === undefined) return;
  print(`\nseed ${seed} fails at commit ${commit()}, trace ${digest}\n  ${violation.what}`);
  print(`  replay: npm run simulate -- --seed ${seed} --trace`);
  if (!call.shrinks) return;
  if (trial === undefined) print('not shrunk: its thread is gone; the replay shows how far it came');
  else await explainShrunk(seed, trial, violation.check, call);
}

async function explainShrunk(
  seed: number,
  trial: TrialName,
  check: string,
  call: SimulateCall,
): Promise<void> {
  const thread = threadOf(call);
  const shrunk = await thread.shrink(seed, trial, check);
  await thread.end();
  if (typeof shrunk === 'string') {
    print(`not shrunk: with fewer incidents, ${shrunk}`);
    return;
  }
  print(`  shrunk in ${shrunk.runs} runs to ${shrunk.incidents} incidents: ${shrunk.what}`);
  for (const line of shrunk.lines.slice(-LAST_LINES)) print(`  ${line}`);
}

function showCoverage({ coverage, searched }: CampaignResult): readonly string[] {
  print('\nreached:');
  for (const name of [...coverage.keys()].sort())
    print(`  ${String(coverage.get(name)).padStart(9)} ${name}`);
  return missedGoals(coverage, searched);
}

async function replay(call: SimulateCall): Promise<number> {
  const { seed } = call;
  const thread = threadOf(call);
  const outcome = await thread.search(seed, true);
  await thread.end();
  for (const line of outcome.lines) print(line);
  print(`seed ${seed}: trace ${outcome.digest}, ${outcome.violation?.what ?? 'nothing found'}`);
  return outcome.violation === undefined ? 0 : 1;
}

async function run(call: SimulateCall): Promise<number> {
  if (call.showsTrace) return await replay(call);
  const began = process.hrtime.bigint();
  const seconds = (): number => secondsOf(process.hrtime.bigint() - began);
  const findings = await campaign({
    from: call.seed,
    count: call.count,
    threads: call.threads,
    thread: () => threadOf(call),
    mostFailures: call.mostFailures,
    onOutcome: ({ seed, violation }, done) => {
      if (violation !== undefined) print(`seed ${seed}: ${violation.what}`);
      if (done % PROGRESS_EVERY === 0) print(`${done} of ${call.count} seeds, ${seconds().toFixed(0)} s`);
    },
  });
  const { searched, failures, steps, simulatedMillis } = findings;
  const missed = showCoverage(findings);
  if (missed.length > 0) print(`\nnot reached: ${missed.join(', ')}`);
  print(`\nout of reach (docs/understand/simulator.md): ${OUT_OF_REACH.join(', ')}`);
  for (const failure of failures) await explain(failure, call);
  print(
    `\n${searched} seeds from ${call.seed}: ${failures.length} failed; ${steps} steps, ` +
      `${(simulatedMillis / 3_600_000).toFixed(1)} simulated hours in ${seconds().toFixed(1)} s`,
  );
  return failures.length > 0 || (call.mustReach && missed.length > 0) ? 1 : 0;
}

async function main(args: readonly string[]): Promise<number> {
  const call = readCall(args);
  if (call !== undefined) return await run(call);
  print(USAGE);
  return EXIT_USAGE;
}

process.exitCode = await codeOf('simulate', () => main(process.argv.slice(2)));
