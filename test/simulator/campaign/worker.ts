import { parentPort } from 'node:worker_threads';
import { shrink } from '../plan/shrink.js';
import { search } from './search.js';
import type { ShrunkTrial, ThreadTask, Word } from './thread.js';
import { TRIALS, type TrialName } from './trials.js';

function say(word: Word): void {
  parentPort?.postMessage(word);
}

async function searched(seed: number, keepsTrace: boolean): Promise<Word> {
  say({ kind: 'ALIVE' });
  if (!keepsTrace) return { kind: 'SEARCHED', outcome: await search(seed) };
  // Sent at once: a world that never ends could not report it later.
  const outcome = await search(seed, (trial, line) => say({ kind: 'LINE', trial, line }));
  return { kind: 'SEARCHED', outcome };
}

async function shrunk(seed: number, name: TrialName, check: string): Promise<ShrunkTrial> {
  const trial = TRIALS[name](seed);
  const live: typeof trial.live = (plan, watching) => {
    say({ kind: 'ALIVE' });
    return trial.live(plan, watching);
  };
  const { plan, outcome, runs } = await shrink({ ...trial, live }, check);
  const what = outcome.violation?.what ?? 'nothing';
  return { incidents: plan.incidents.length, what, runs, lines: outcome.lines };
}

/** A thread that carries out its tasks one after another. */
parentPort?.on('message', (task: ThreadTask) => {
  const done =
    task.kind === 'SEARCH'
      ? searched(task.seed, task.keepsTrace)
      : shrunk(task.seed, task.trial, task.check).then((told): Word => ({ kind: 'SHRUNK', shrunk: told }));
  void done.then(say);
});
