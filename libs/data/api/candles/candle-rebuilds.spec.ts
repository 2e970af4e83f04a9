import { expect, it } from '@jest/globals';
import type { CandleSeries } from '../../store/candle-reader.js';
import { CandleRebuilds } from './candle-rebuilds.js';

const SERIES: CandleSeries = { provider: 'venue_a', marketNo: 1, outcomeIndex: 0, timeframe: 60 };
const WINDOW = { start: 0, end: 60_000_000 };

it('four rebuilds run at once, 256 more wait, and the next is refused with 503 until one has ended', async () => {
  const running: (() => void)[] = [];
  const rebuilds = new CandleRebuilds({
    candles: {
      recompute: () => new Promise((resolve) => running.push(() => resolve({ bars: [], apart: [] }))),
    },
    alarms: { add: () => Promise.reject(new Error('nothing is apart')) },
    onFault: (what, error) => {
      throw new Error(what, { cause: error });
    },
    onApart: (_provider, detail) => {
      throw new Error(detail);
    },
  });
  const rebuild = (): Promise<unknown> => rebuilds.rebuild(SERIES, WINDOW, 0);
  const accepted = Array.from({ length: 260 }, rebuild);
  expect(running.length).toBe(4);
  await expect(rebuild()).rejects.toMatchObject({
    reply: { status: 503, body: { detail: 'Too many candles are being rebuilt' } },
  });
  running[0]?.();
  await accepted[0];
  accepted.push(rebuild());
  for (let at = 1; at < accepted.length; at += 1) {
    running[at]?.();
    await accepted[at];
  }
  expect(running.length).toBe(261);
});
