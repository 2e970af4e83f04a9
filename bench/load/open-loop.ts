import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { percentile } from '../statistics.js';

export interface Latencies {
  /** In milliseconds. */
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
  readonly calls: number;
}

/**
 * Starts calls on schedule, whether or not earlier ones have ended. Latency counts from the scheduled time,
 * so that a slow service cannot hide the calls that had to wait.
 */
export async function openLoop(
  perSecond: number,
  seconds: number,
  call: () => Promise<void>,
): Promise<Latencies> {
  const beats = Math.max(1, Math.round(perSecond * seconds));
  const taken = new Float64Array(beats);
  const calls: Promise<void>[] = [];
  const metronome = new Worker(new URL('./metronome.js', import.meta.url), {
    workerData: { beatMillis: 1_000 / perSecond, beats },
  });
  metronome.on('message', (due: number) => {
    const index = calls.length;
    calls.push(
      call().then(() => {
        taken[index] = performance.timeOrigin + performance.now() - due;
      }),
    );
  });
  await once(metronome, 'exit');
  await Promise.all(calls);
  return latenciesOf(taken);
}

export function latenciesOf(taken: Float64Array | readonly number[]): Latencies {
  return {
    p50: percentile(taken, 50),
    p99: percentile(taken, 99),
    max: percentile(taken, 100),
    calls: taken.length,
  };
}
