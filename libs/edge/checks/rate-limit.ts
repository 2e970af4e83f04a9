import type { RateWindow } from '../dialect/dialect-rules.js';
import type { Check, Inspection } from './check.js';

/** Counts a call. Undefined for one that no limit applies to; a refused one says when to come back. */
export type CountCall = (inspection: Inspection) => RateWindow | undefined;

export function rateLimit(count: CountCall): Check {
  return {
    name: 'rate limit',
    after: ['method', 'credentials'],
    run(inspection) {
      inspection.rate = count(inspection);
      if (inspection.rate?.retryAfter === undefined) return undefined;
      return { kind: 'rate-limited', spec: inspection.found.spec };
    },
  };
}
