import type { Dialect } from '../dialect/dialect.js';
import type { FaultKind } from '../dialect/fault.js';
import type { EndpointSpec } from '../endpoint.js';
import { canQueryFail, queryFault } from '../checks/parts.js';

export interface EdgeAnswer {
  /** The name of its single definition in the document. */
  readonly name: string;
  readonly status: number;
  readonly codes: readonly string[];
  readonly description: string;
}

interface DescribedFaults {
  readonly name: string;
  /** All replies of one status. */
  readonly kinds: readonly FaultKind[];
  readonly description: string;
}

/** The replies of the edge to any request. */
const ANSWERS: readonly DescribedFaults[] = [
  {
    name: 'BadRequest',
    kinds: ['malformed-request', 'invalid-json', 'trailing-data'],
    description:
      'The request is not valid HTTP or has no host, and the connection is closed. Or the body is not JSON as documented, or there is one where none is expected.',
  },
  {
    name: 'Unauthorized',
    kinds: ['unauthorized'],
    description:
      'No bearer token, or one that is not valid (any more). Applies to every path under /v1, existing or not.',
  },
  {
    name: 'InternalHeaders',
    kinds: ['internal-header'],
    description: 'A header that only the service itself may send.',
  },
  {
    name: 'NoSuchPath',
    kinds: ['not-found'],
    description: 'The path does not exist, or not for this caller.',
  },
  {
    name: 'MethodNotAllowed',
    kinds: ['method-not-allowed'],
    description: 'The path has other methods.',
  },
  {
    name: 'RequestTimeout',
    kinds: ['request-timeout'],
    description: 'The request did not arrive in time. The connection is closed.',
  },
  {
    name: 'PayloadTooLarge',
    kinds: ['payload-too-large'],
    description: 'The body is too large. The bytes that arrive are counted, not only the announced length.',
  },
  {
    name: 'UnsupportedMediaType',
    kinds: ['unsupported-media-type'],
    description: 'A content type other than application/json, or any content encoding.',
  },
  {
    name: 'HeadersTooLarge',
    kinds: ['headers-too-large'],
    description: 'Too many headers, or too long ones.',
  },
  {
    name: 'InternalError',
    kinds: ['internal-error'],
    description: 'A fault of the service. Give the request id when you report it.',
  },
  {
    name: 'UnsupportedTransferCoding',
    kinds: ['unsupported-transfer-coding'],
    description: 'A transfer coding other than `chunked`. The connection is closed.',
  },
  {
    name: 'Unavailable',
    kinds: ['too-many-pipelined', 'unavailable'],
    description:
      'Too many requests wait on one connection, which is closed. Or the service that checks the caller or handles the call cannot be reached.',
  },
];

/** Answers of requests that match no operation. */
const WITHOUT_OPERATION: ReadonlySet<string> = new Set(['NoSuchPath', 'MethodNotAllowed']);

/** The check that gives an answer, for answers that not every dialect has. */
const CHECK_OF_ANSWER: Readonly<Record<string, string>> = { UnsupportedMediaType: 'content type' };

/** The replies of the edge in this dialect. Kinds whose status differs from that of the first kind are left out. */
export function edgeAnswersOf(dialect: Dialect): readonly EdgeAnswer[] {
  const checks = new Set(dialect.checks.map(({ name }) => name));
  const isUsed = ({ name }: DescribedFaults): boolean => {
    if (name === 'InternalHeaders') return dialect.internalHeaders.length > 0;
    const check = CHECK_OF_ANSWER[name];
    return check === undefined || checks.has(check);
  };
  return ANSWERS.filter(isUsed).map(({ name, kinds, description }) => {
    const refusals = kinds.map((kind) => refusalIn(dialect, kind));
    const status = refusals[0]?.status ?? 0;
    const same = refusals.filter((each) => each.status === status);
    return { name, description, status, codes: [...new Set(same.map(({ code }) => code))] };
  });
}

function refusalIn(dialect: Dialect, kind: FaultKind): { readonly status: number; readonly code: string } {
  const reply = dialect.refuse({ kind });
  return { status: reply.status, code: dialect.codeOf(reply) ?? kind };
}

/** The codes of an operation by status: its own, and those of the edge that follow from its declaration. */
export function codesOf(spec: EndpointSpec, dialect: Dialect): Map<number, readonly string[]> {
  const codes = new Map<number, Set<string>>();
  const add = (status: number, ...added: readonly (string | undefined)[]): void => {
    const known = codes.get(status) ?? codes.set(status, new Set()).get(status);
    for (const code of added) if (code !== undefined) known?.add(code);
  };
  for (const [status, own] of Object.entries(spec.statuses ?? {})) {
    if (own.length > 0) add(Number(status), ...own);
  }
  for (const { name, status, codes: common } of edgeAnswersOf(dialect)) {
    if (WITHOUT_OPERATION.has(name)) continue;
    if (name === 'Unauthorized' && spec.access === 'public') continue;
    if (name === 'Unavailable' && spec.neverUnavailable === true) continue;
    add(status, ...common);
  }
  const addKinds = (...kinds: readonly FaultKind[]): void => {
    for (const { status, code } of kinds.map((kind) => refusalIn(dialect, kind))) add(status, code);
  };
  const invalid = (kind: FaultKind, ...own: readonly (string | undefined)[]): void => {
    if (own.length > 0) add(refusalIn(dialect, kind).status, ...own);
  };
  invalid('invalid-id', ...Object.values(spec.ids ?? {}).map(({ fault }) => fault));
  if (canQueryFail(spec, dialect.unknownParameters)) invalid('invalid-query', queryFault(spec));
  if (spec.capability !== undefined || spec.requiredRole !== undefined) addKinds('forbidden');
  if (spec.role !== undefined) addKinds('not-found');
  if (spec.bodyFault !== undefined) invalid('invalid-body', spec.bodyFault);
  if (spec.idempotency === 'required') addKinds('key-required', 'key-mismatch');
  return new Map([...codes].map(([status, set]) => [status, [...set]]));
}
