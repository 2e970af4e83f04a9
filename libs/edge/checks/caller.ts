import type { EndpointSpec } from '../endpoint.js';
import type { AuthOutcome, Check, CheckOutcome, Inspection } from './check.js';
import type { RateWindow } from '../dialect/dialect-rules.js';

/** Checks the token. `isGuarded` tells which paths require one even if they have no endpoint. */
export function credentials(isGuarded: (path: string) => boolean): Check {
  return {
    name: 'credentials',
    after: ['route'],
    run(inspection, { authenticator }) {
      const spec = inspection.endpoint?.spec;
      const isRequired = spec === undefined ? isGuarded(inspection.path) : spec.access === 'session';
      if (!isRequired) return undefined;
      const { token } = inspection;
      if (token === undefined) return { kind: 'unauthorized', spec };
      const result = authenticator.authenticate(token);
      if (!(result instanceof Promise)) return applyOutcome(inspection, spec, result);
      return result.then((outcome) => applyOutcome(inspection, spec, outcome));
    },
  };
}

function applyOutcome(
  inspection: Inspection,
  spec: EndpointSpec | undefined,
  outcome: AuthOutcome,
): CheckOutcome {
  if (typeof outcome === 'string') return { kind: outcome, spec };
  inspection.principal = outcome;
  return undefined;
}

/** Counts a call. Undefined for a call without a limit. A refused call has `retryAfter`. */
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
