import type { Fault } from '../dialect/fault.js';
import type { EndpointSpec, Caller } from '../endpoint.js';
import type { PathMatch } from '../path-tree.js';
import type { Check } from './check.js';

const NOT_FOUND: Fault = { kind: 'not-found' };

/** Finds the path but never refuses, because the reply for an unknown path may depend on the caller. */
export const route: Check = {
  name: 'route',
  after: [],
  run(inspection, { paths }) {
    inspection.match = paths.find(inspection.path);
    return undefined;
  },
};

export const path: Check = {
  name: 'path',
  after: ['route'],
  run: ({ match }) => (match === undefined ? NOT_FOUND : undefined),
};

/** If credentials are checked first, a path hidden from the caller is not found with any method. */
export const method: Check = {
  name: 'method',
  after: ['path'],
  run({ match, endpoint, principal }) {
    if (match === undefined) return NOT_FOUND;
    return endpoint === undefined ? methodFault(match, principal) : undefined;
  },
};

/** An endpoint is not found for a caller without its role. */
export const visibility: Check = {
  name: 'visibility',
  after: ['method', 'credentials'],
  run({ match, found, principal }) {
    if (match === undefined || isVisible(found.spec, principal)) return undefined;
    return methodFault(match, principal);
  },
};

export const permission: Check = {
  name: 'permission',
  after: ['method', 'credentials'],
  run(inspection) {
    const { spec } = inspection.found;
    if (!isAllowed(spec, inspection.principal)) return { kind: 'forbidden', spec };
    inspection.isAdmitted = true;
    return undefined;
  },
};

function isVisible(spec: EndpointSpec, principal: Caller | undefined): boolean {
  return spec.role === undefined || principal?.roles.has(spec.role) === true;
}

function isAllowed({ capability, requiredRole }: EndpointSpec, principal: Caller | undefined): boolean {
  if (capability !== undefined && principal?.capabilities.has(capability) !== true) return false;
  return requiredRole === undefined || principal?.roles.has(requiredRole) === true;
}

function methodFault(match: PathMatch, principal: Caller | undefined): Fault {
  const methods = [...match.endpoints.values()]
    .filter(({ spec }) => isVisible(spec, principal))
    .flatMap(({ spec }) => (spec.method === 'GET' ? ['GET', 'HEAD'] : [spec.method]));
  return methods.length === 0 ? NOT_FOUND : { kind: 'method-not-allowed', methods };
}
