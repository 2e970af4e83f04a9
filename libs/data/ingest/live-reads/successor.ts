import type { LiveSource } from './port.js';

/** Asks the current source first and the former source second: markets of the former are still in the store. */
export function successor(current: LiveSource, former: LiveSource | undefined): LiveSource {
  if (former === undefined) return current;
  return {
    market: async (id) => (await current.market(id)) ?? former.market(id),
    ...(current.tradesOfA === undefined ? {} : { tradesOfA: current.tradesOfA.bind(current) }),
    ...(current.tradesOfB === undefined
      ? {}
      : { tradesOfB: async (page) => (await current.tradesOfB?.(page)) ?? former.tradesOfB?.(page) }),
  };
}
