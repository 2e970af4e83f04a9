import { spawnSync } from 'node:child_process';
import { print } from '#libs/platform/standard-output.js';
import { codeOf } from '#libs/platform/tool-faults.js';
import { campaign, type Findings } from './campaign/campaign.js';
import { readCall, USAGE, type Call } from './campaign/call.js';
import { GOALS } from './campaign/coverage-goals.js';
import { search, type Searched } from './campaign/search.js';
import { TRIALS } from './campaign/trials.js';
import { shrink } from './plan/shrink.js';

const NANOS_PER_SECOND = 1e9;
const PROGRESS_EVERY = 100;
const LAST_LINES = 120;
const EXIT_USAGE = 64;

function commit(): string {
  const asked = spawnSync('git', ['describe', '--always', '--dirty'], { encoding: 'utf8' });
  return asked.status === 0 ? asked.stdout.trim() : 'unknown';
}

async function explain({ seed, trial, violation, digest }: Searched, { shrinks }: Call): Promise<void> {
  if (violation === undefined) return;
  print(`\nseed ${seed} fails at commit ${commit()}, trace ${digest}\n  ${violation.what}`);
  print(`  replay: npm run simulate -- --seed ${seed} --trace`);
  if (!shrinks) return;
  const { plan, outcome, runs } = await shrink(TRIALS[trial](seed), violation.check);
  print(
    `  shrunk in ${runs} runs to ${plan.incidents.length} incidents: ${outcome.violation?.what ?? 'nothing'}`,
  );
  for (const line of outcome.lines.slice(-LAST_LINES)) print(`  ${line}`);
}

function showCoverage(coverage: Findings['coverage']): readonly string[] {
  print('\nreached:');
  for (const name of [...coverage.keys()].sort())
    print(`  ${String(coverage.get(name)).padStart(9)} ${name}`);
  return GOALS.filter((goal) => (coverage.get(goal) ?? 0) === 0);
}

async function replay(seed: number): Promise<number> {
  const outcome = await search(seed, { keepsTrace: true });
  for (const line of outcome.lines) print(line);
  print(`seed ${seed}: trace ${outcome.digest}, ${outcome.violation?.what ?? 'nothing found'}`);
  return outcome.violation === undefined ? 0 : 1;
}

async function run(call: Call): Promise<number> {
  if (call.showsTrace) return replay(call.seed);
  const began = process.hrtime.bigint();
  const seconds = (): number => Number(process.hrtime.bigint() - began) / NANOS_PER_SECOND;
  const findings = await campaign({
    from: call.seed,
    count: call.count,
    threads: call.threads,
    mostFailures: call.mostFailures,
    onOutcome: ({ seed, violation }, done) => {
      if (violation !== undefined) print(`seed ${seed}: ${violation.what}`);
      if (done % PROGRESS_EVERY === 0) print(`${done} of ${call.count} seeds, ${seconds().toFixed(0)} s`);
    },
  });
  const { searched, failures, steps, simulatedMillis } = findings;
  const missed = showCoverage(findings.coverage);
  if (missed.length > 0) print(`\nnever reached: ${missed.join(', ')}`);
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
