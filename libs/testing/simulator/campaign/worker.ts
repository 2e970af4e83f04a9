import { parentPort } from 'node:worker_threads';
import { search } from './search.js';

/** A thread that searches the seeds that it is given, one after another. */
parentPort?.on('message', (seed: number) => {
  void search(seed).then((outcome) => {
    parentPort?.postMessage({ ...outcome, lines: [] });
  });
});
