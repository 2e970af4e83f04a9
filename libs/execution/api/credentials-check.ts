import type { Check, CheckOutcome, Inspection } from '#libs/edge/checks/check.js';
import type { FaultKind } from '#libs/edge/dialect/fault.js';
import type { EndpointSpec } from '#libs/edge/endpoint.js';
import type { CallerOutcome, CredentialRefusal } from '#libs/identity/api-keys/authenticate.js';
import { ExecutionCaller, type CallerGate } from './caller.js';

const KINDS: Readonly<Record<CredentialRefusal['status'], FaultKind>> = {
  401: 'unauthorized',
  403: 'forbidden',
  429: 'rate-limited',
  503: 'unavailable',
};

export const CASH_OUT_QUOTE = '/combo/cash-out-quote';

/** Authenticates the caller before the path is answered. Only public endpoints need no credentials. */
export function credentialsCheck(gate: CallerGate): Check {
  return {
    name: 'credentials',
    after: ['route'],
    run(inspection) {
      const spec = inspection.endpoint?.spec;
      if (spec?.access === 'public') return undefined;
      const { request, response, token } = inspection;
      const isHandshake = response === undefined;
      const outcome = gate.authenticate({
        headers: request.headers,
        peer: request.socket.remoteAddress ?? '',
        takesCookie: !isHandshake,
        wrongTriple: !isHandshake && isForbiddenToWrong(spec) ? 403 : 401,
        ...(isHandshake && token !== undefined ? { token } : {}),
      });
      if (!(outcome instanceof Promise)) return settled(inspection, outcome);
      return outcome.then((known) => settled(inspection, known));
    },
  };
}

/** Mutations and one quote answer a wrong triple with 403. All other calls answer with 401. */
function isForbiddenToWrong(spec: EndpointSpec | undefined): boolean {
  return spec?.capability === 'trade:execute' || spec?.path === CASH_OUT_QUOTE;
}

function settled(inspection: Inspection, outcome: CallerOutcome): CheckOutcome {
  if (outcome.ok) {
    inspection.principal = new ExecutionCaller(outcome.caller);
    return undefined;
  }
  const { status, error } = outcome.refusal;
  return { kind: KINDS[status], spec: inspection.endpoint?.spec, message: error };
}

/** Runs before the check of scopes. Refuses calls that no API key may make, with any scopes. */
export const sessionOnly: Check = {
  name: 'session only',
  after: ['method', 'credentials'],
  run({ found: { spec }, principal }) {
    if (!(principal instanceof ExecutionCaller)) return undefined;
    if (spec.sessionOnly === true && principal.api.auth_method === 'api_key') {
      return { kind: 'forbidden', spec, message: 'This call is for sessions, not for API keys' };
    }
    const { requiredRole: role } = spec;
    if (role === undefined || principal.roles.has(role)) return undefined;
    return { kind: 'forbidden', spec, message: 'This call is for operators' };
  },
};

export const scope: Check = {
  name: 'scope',
  after: ['method', 'credentials'],
  run(inspection) {
    const { spec } = inspection.found;
    const { capability } = spec;
    if (capability !== undefined && inspection.principal?.capabilities.has(capability) !== true) {
      return { kind: 'forbidden', spec, code: 'AUTH_INSUFFICIENT_SCOPE' };
    }
    inspection.isAdmitted = true;
    return undefined;
  },
};
