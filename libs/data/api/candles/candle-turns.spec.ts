import { expect, it } from '@jest/globals';
import { SystemClock } from '#libs/platform/time/system-clock.js';
import type { AskedCandles } from './candle-ask.js';
import { CandleDesk } from './candle-desk.js';
import { CandleRebuilds } from './candle-rebuilds.js';
import { CandleReplies } from './candle-replies.js';

const NOW = 1_790_000_000_000_000;
const HOUR = 3_600_000_000;

it('of one account four replies that are not kept are read at once; another account does not wait for them', async () => {
  const started: (() => void)[] = [];
  const nothing = (): Promise<never> => Promise.reject(new Error('it is not asked for'));
  const replies = new CandleReplies({
    markets: { find: () => new Promise((resolve) => started.push(() => resolve(new Map()))) },
    coverage: { named: () => Promise.resolve(null) },
    desk: new CandleDesk({
      candles: { read: nothing },
      coverage: { of: nothing, versioned: nothing },
      rebuilds: new CandleRebuilds({
        ...{ candles: { recompute: nothing }, alarms: { add: nothing } },
        ...{ onFault: () => undefined, onApart: () => undefined },
      }),
    }),
    clock: new SystemClock(),
  });
  const ask = (hour: number, account: string): Promise<unknown> => {
    const asked: AskedCandles = {
      ...{ provider: 'venue_a', contract_id: 'm', timeframe_seconds: 60, outcome: 0, rebuild: false },
      ...{ start: NOW - hour * HOUR, end: NOW - (hour - 1) * HOUR },
    };
    return replies.of(asked, NOW, account);
  };
  const asked = [1, 2, 3, 4, 5, 6].map((hour) => ask(hour, 'one'));
  await Promise.resolve();
  expect(started.length).toBeLessThanOrEqual(4);
  asked.push(ask(7, 'other'));
  while (started.length < 5) await new Promise((resolve) => setImmediate(resolve));
  expect(started.length).toBe(5);
  for (let at = 0; at < asked.length; at += 1) {
    while (started.length <= at) await new Promise((resolve) => setImmediate(resolve));
    started[at]?.();
  }
  const all = await Promise.all(asked);
  expect(all).toHaveLength(7);
});
