import { parentPort, workerData } from 'node:worker_threads';

/** Ticks from a thread of its own: a timer of the event loop would be up to a millisecond late. */
const { beatMillis, beats } = workerData as { readonly beatMillis: number; readonly beats: number };
const asleep = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));

const begun = performance.timeOrigin + performance.now();
for (let beat = 0; beat < beats; beat += 1) {
  const wait = begun + beat * beatMillis - (performance.timeOrigin + performance.now());
  if (wait > 0) Atomics.wait(asleep, 0, 0, wait);
  parentPort?.postMessage(begun + beat * beatMillis);
}
