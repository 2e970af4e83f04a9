import { expect, it } from '@jest/globals';
import { StartFault } from '#libs/platform/process/start-fault.js';
import { HastyClock } from '#libs/testing/kafka/hasty-clock.js';
import { KafkaUnsettled } from '../kafka/topic-log.js';
import { untilSettled } from './until-settled.js';

const UNSETTLED = new KafkaUnsettled('nobody leads');

/** Returns how often the start asks, given these refusals in order and the last one for ever; what is logged; and how it ends. */
async function asked(
  refusals: readonly Error[],
  stopping?: AbortSignal,
): Promise<{ times: number; told: string[]; end: unknown }> {
  const told: string[] = [];
  let times = 0;
  const work = (): Promise<string> => {
    const refusal = refusals[Math.min(times, refusals.length - 1)];
    times += 1;
    return refusal === undefined ? Promise.resolve('done') : Promise.reject(refusal);
  };
  const patience = { clock: new HastyClock(), tell: (line: string) => told.push(line), stopping };
  const end = await untilSettled(patience, work).catch((error: unknown) => error);
  return { times, told, end };
}

it('a start waits half a minute for brokers that elect a leader, logs that once, and then the reason of its failure', async () => {
  const { times, told, end } = await asked([UNSETTLED]);
  expect(end).toBe(UNSETTLED);
  expect(told).toEqual(['nobody leads; waiting up to 30 s for its brokers to settle that']);
  expect(times).toBeGreaterThan(20);
});

it('waits for no other fault, even a later one', async () => {
  const wrong = new StartFault('its user has no right');
  expect(await asked([wrong])).toEqual({ times: 1, told: [], end: wrong });
  expect(await asked([UNSETTLED, wrong])).toMatchObject({ times: 2, end: wrong });
});

it('does not delay a stop', async () => {
  expect(await asked([UNSETTLED], AbortSignal.abort())).toEqual({ times: 1, told: [], end: UNSETTLED });
});
