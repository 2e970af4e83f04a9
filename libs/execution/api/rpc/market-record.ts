import type { VenueMarket } from '../../rules/markets.js';
import { printMicros } from '../../rules/micros.js';

const MILLIS_END = 23;

/** A market as callers read it. */
export function marketRecord(market: VenueMarket): Record<string, unknown> {
  const { tick_size, bands, min_size, closes_at, ...rest } = market;
  return {
    ...rest,
    ...(tick_size === undefined ? {} : { tick_size: printMicros(tick_size) }),
    ...(bands === undefined
      ? {}
      : {
          bands: bands.map(({ start, end, step }) => ({
            ...{ start: printMicros(start), end: printMicros(end), step: printMicros(step) },
          })),
        }),
    min_size: printMicros(min_size),
    closes_at: inMillis(closes_at),
  };
}

/** The time in milliseconds. Venues send seconds with any number of decimals. */
function inMillis(time: string): string {
  const [whole = time, fraction = ''] = time.replace(/Z$/, '').split('.');
  return `${`${whole}.${fraction.padEnd(3, '0')}`.slice(0, MILLIS_END)}Z`;
}
