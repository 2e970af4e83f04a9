import { expect, it } from '@jest/globals';
import { StartFault } from '#libs/platform/process/start-fault.js';
import { HastyClock } from '#libs/testing/kafka/hasty-clock.js';
import { KafkaUnsettled } from '../kafka/topic-log.js';
import { untilSettled } from './until-settled.js';

const UNSETTLED = new KafkaUnsettled('no leader');

/** Returns how often the start tries with these refusals (the last one repeats), what is logged, and how it ends. */
async function startWith(
  refusals: readonly Error[],
  stopping?: AbortSignal,
): Promise<{ times: number; lines: string[]; end: unknown }> {
  const lines: string[] = [];
  let times = 0;
  const work = (): Promise<string> => {
    const refusal = refusals[Math.min(times, refusals.length - 1)];
    times += 1;
    return refusal === undefined ? Promise.resolve('done') : Promise.reject(refusal);
  };
  const patience = { clock: new HastyClock(), tell: (line: string) => lines.push(line), stopping };
  const end = await untilSettled(patience, work).catch((error: unknown) => error);
  return { times, lines, end };
}

it('a start waits up to half a minute for brokers that elect a leader, logs that once, and then fails with the reason', async () => {
  const { times, lines, end } = await startWith([UNSETTLED]);
  expect(end).toBe(UNSETTLED);
  expect(lines).toEqual(['no leader; waiting up to 30 s for the brokers to elect a leader']);
  expect(times).toBeGreaterThan(20);
});

it('does not wait for another fault, even a later one', async () => {
  const wrong = new StartFault('its user has no right');
  expect(await startWith([wrong])).toEqual({ times: 1, lines: [], end: wrong });
  expect(await startWith([UNSETTLED, wrong])).toMatchObject({ times: 2, end: wrong });
});

it('does not delay a stop', async () => {
  expect(await startWith([UNSETTLED], AbortSignal.abort())).toEqual({ times: 1, lines: [], end: UNSETTLED });
});
