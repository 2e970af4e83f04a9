import type { LiveSource } from './port.js';

/** What the venue of today does not know is asked of what was there before: its markets are in the store, too. */
export function successor(today: LiveSource, before: LiveSource | undefined): LiveSource {
  if (before === undefined) return today;
  return {
    market: async (id) => (await today.market(id)) ?? before.market(id),
    ...(today.tradesOfA === undefined ? {} : { tradesOfA: today.tradesOfA.bind(today) }),
    ...(today.tradesOfB === undefined
      ? {}
      : { tradesOfB: async (page) => (await today.tradesOfB?.(page)) ?? before.tradesOfB?.(page) }),
  };
}
