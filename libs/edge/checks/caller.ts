import type { EndpointSpec } from '../endpoint.js';
import type { AuthOutcome, Check, CheckOutcome, Inspection } from './check.js';
import type { RateWindow } from '../dialect/dialect-rules.js';

/** `isGuarded` tells which paths require a token although no endpoint is known there. */
export function credentials(isGuarded: (path: string) => boolean): Check {
  return {
    name: 'credentials',
    after: ['route'],
    run(inspection, { authenticator }) {
      const spec = inspection.endpoint?.spec;
      const isWanted = spec === undefined ? isGuarded(inspection.path) : spec.access === 'session';
      if (!isWanted) return undefined;
      const { token } = inspection;
      if (token === undefined) return { kind: 'unauthorized', spec };
      const known = authenticator.authenticate(token);
      if (!(known instanceof Promise)) return settled(inspection, spec, known);
      return known.then((outcome) => settled(inspection, spec, outcome));
    },
  };
}

function settled(inspection: Inspection, spec: EndpointSpec | undefined, outcome: AuthOutcome): CheckOutcome {
  if (typeof outcome === 'string') return { kind: outcome, spec };
  inspection.principal = outcome;
  return undefined;
}

/** Counts a call. Undefined for a call without a limit; a refusal says when to retry. */
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
