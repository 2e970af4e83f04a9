import type { IncomingMessage } from 'node:http';
import type { Check, CheckOutcome, Inspection } from '#libs/edge/checks/check.js';
import { body as readBody } from '#libs/edge/checks/parts.js';
import type { RateWindow } from '#libs/edge/dialect/dialect-rules.js';
import type { FaultKind } from '#libs/edge/dialect/fault.js';
import type { EndpointSpec } from '#libs/edge/endpoint.js';
import {
  ADMIN,
  DataCaller,
  dataCallerOf,
  type CredentialOutcome,
  type CallerRefusal,
  type ClientAddress,
  type DataCallers,
} from './callers.js';
import { refusedIn } from './params.js';
import { refuse } from './refusals.js';

const REQUIRED = 'Authentication required (JWT token / API key / admin secret)';
/** On these paths credentials are optional, but bad ones are refused. */
const COMPANION = '/v1/';

const KINDS: Readonly<Record<CallerRefusal['status'], FaultKind>> = {
  401: 'unauthorized',
  403: 'forbidden',
  429: 'rate-limited',
  503: 'unavailable',
};

/** Counts a call. Returns undefined for a route without a limit. */
export interface CallCounter {
  count(spec: EndpointSpec, caller: DataCaller | undefined, address: string): RateWindow | undefined;
}

/** Notes how fresh the data are when a request arrives, so that a reply never claims to be fresher than what it shows. */
export interface FreshnessNotes {
  note(request: IncomingMessage): void | Promise<void>;
}

/** For all but operators, the routes of operators do not exist. The status of a wrong method must not reveal them. */
export function method(callers: DataCallers): Check {
  return {
    name: 'method',
    after: ['path'],
    run({ match, endpoint, request }) {
      const specs = [...(match?.endpoints.values() ?? [])].map(({ spec }) => spec);
      const isAdmin = specs.some(isOfOperators) && callers.isAdmin(request);
      const visible = specs.filter((spec) => isAdmin || !isOfOperators(spec));
      if (endpoint !== undefined) return visible.includes(endpoint.spec) ? undefined : { kind: 'not-found' };
      const methods = visible.flatMap((spec) => (spec.method === 'GET' ? ['GET', 'HEAD'] : [spec.method]));
      return methods.length === 0 ? { kind: 'not-found' } : { kind: 'method-not-allowed', methods };
    },
  };
}

function isOfOperators({ role }: EndpointSpec): boolean {
  return role === ADMIN;
}

export function credentials(callers: DataCallers, addressOf: ClientAddress): Check {
  return {
    name: 'credentials',
    after: ['method'],
    run(inspection) {
      const { spec } = inspection.found;
      const isAnonymous = spec.access === 'public';
      if (isAnonymous && !spec.path.startsWith(COMPANION)) return undefined;
      const { request } = inspection;
      const outcome = callers.callerOf(request, addressOf(request));
      if (!(outcome instanceof Promise)) return settled(inspection, outcome, isAnonymous);
      return outcome.then((known) => settled(inspection, known, isAnonymous));
    },
  };
}

function settled(inspection: Inspection, outcome: CredentialOutcome, isAnonymous: boolean): CheckOutcome {
  const { spec } = inspection.found;
  if (outcome instanceof DataCaller) {
    inspection.principal = outcome;
    return undefined;
  }
  if (outcome === undefined)
    return isAnonymous ? undefined : { kind: 'unauthorized', spec, message: REQUIRED };
  return { kind: KINDS[outcome.status], spec, message: outcome.detail };
}

/** Only sessions need an invite. The routes of the companion need none. */
export const invite: Check = {
  name: 'invite',
  after: ['credentials'],
  run({ found: { spec }, principal }) {
    const caller = dataCallerOf(principal);
    if (spec.access === 'public' || caller?.facts.isInvited !== false) return undefined;
    return { kind: 'forbidden', spec, message: 'Invite required' };
  },
};

/** Only keys have scopes. Sessions and the admin secret may do everything. */
export const scope: Check = {
  name: 'scope',
  after: ['credentials'],
  run({ found: { spec }, principal }) {
    const { capability } = spec;
    if (capability === undefined || principal?.capabilities.has(capability) === true) return undefined;
    return { kind: 'forbidden', spec, message: `Missing required scope: ${capability}` };
  },
};

/** Marks a fault of the call limit, and tells it from the throttle of credentials. */
export const OVER_LIMIT = 'limit';

export function limit(counter: CallCounter, addressOf: ClientAddress): Check {
  return {
    name: 'limit',
    after: ['method', 'credentials'],
    run(inspection) {
      const { request, found, principal } = inspection;
      const { spec } = found;
      inspection.isAdmitted = true;
      const window = counter.count(spec, dataCallerOf(principal), addressOf(request));
      inspection.rate = window;
      if (window?.retryAfter === undefined) return undefined;
      const message = `Rate limit exceeded: ${window.limit} per 1 minute`;
      return { kind: 'rate-limited', spec, code: OVER_LIMIT, message };
    },
  };
}

/** A body sent to a route that takes none is ignored. */
export const body: Check = {
  ...readBody,
  run: (inspection, tools) =>
    inspection.found.spec.body === undefined ? undefined : readBody.run(inspection, tools),
};

export const domain: Check = {
  name: 'domain',
  after: ['query', 'body'],
  run({ query }) {
    const refused = refusedIn(query);
    if (refused !== undefined) throw refuse(400, refused);
    return undefined;
  },
};

export function freshness(notes: FreshnessNotes): Check {
  return {
    name: 'freshness',
    after: ['limit'],
    run({ request }) {
      const noted = notes.note(request);
      return noted instanceof Promise ? noted.then(() => undefined) : undefined;
    },
  };
}
