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
      'The peer does not speak HTTP properly or names no host, and then the connection is closed; or a body that is not JSON as documented, or one where none is taken.',
  },
  {
    name: 'Unauthorized',
    kinds: ['unauthorized'],
    description:
      'No bearer token, or one that does not count (any more). Comes for every path under /v1, known or not.',
  },
  {
    name: 'InternalHeaders',
    kinds: ['internal-header'],
    description: 'A header that only the service itself may send.',
  },
  {
    name: 'NoSuchPath',
    kinds: ['not-found'],
    description: 'There is no such path, or none for this caller.',
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
    description: 'The body is too large, told by what comes and not only by what is announced.',
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
    description: 'A fault of ours. Give the request id when you ask about it.',
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
      'Too many requests in line on one connection, which is closed; or nobody can say at present who is calling or where the call has to go.',
  },
];

/** These mean that there is no such operation, so no operation has them. */
const OF_NO_OPERATION: ReadonlySet<string> = new Set(['NoSuchPath', 'MethodNotAllowed']);

/** Replies that only some checks give, by name. */
const OF_A_CHECK: Readonly<Record<string, string>> = { UnsupportedMediaType: 'content type' };

/** The replies of the edge in this dialect. A kind that it answers with another status than the first is no part of the answer. */
export function edgeAnswersOf(dialect: Dialect): readonly EdgeAnswer[] {
  const checks = new Set(dialect.checks.map(({ name }) => name));
  const isUsed = ({ name }: DescribedFaults): boolean => {
    if (name === 'InternalHeaders') return dialect.internalHeaders.length > 0;
    const check = OF_A_CHECK[name];
    return check === undefined || checks.has(check);
  };
  return ANSWERS.filter(isUsed).map(({ name, kinds, description }) => {
    const written = kinds.map((kind) => writtenIn(dialect, kind));
    const status = written[0]?.status ?? 0;
    const same = written.filter((each) => each.status === status);
    return { name, description, status, codes: [...new Set(same.map(({ code }) => code))] };
  });
}

function writtenIn(dialect: Dialect, kind: FaultKind): { readonly status: number; readonly code: string } {
  const reply = dialect.refuse({ kind });
  return { status: reply.status, code: dialect.codeOf(reply) ?? kind };
}

/** The refusals of an operation by status: its own, and those of the edge that follow from its declaration. */
export function codesOf(spec: EndpointSpec, dialect: Dialect): Map<number, readonly string[]> {
  const codes = new Map<number, Set<string>>();
  const add = (status: number, ...given: readonly (string | undefined)[]): void => {
    const known = codes.get(status) ?? codes.set(status, new Set()).get(status);
    for (const code of given) if (code !== undefined) known?.add(code);
  };
  for (const [status, own] of Object.entries(spec.statuses ?? {})) {
    if (own.length > 0) add(Number(status), ...own);
  }
  for (const { name, status, codes: common } of edgeAnswersOf(dialect)) {
    if (OF_NO_OPERATION.has(name)) continue;
    if (name === 'Unauthorized' && spec.access === 'public') continue;
    if (name === 'Unavailable' && spec.neverUnavailable === true) continue;
    add(status, ...common);
  }
  const addKinds = (...kinds: readonly FaultKind[]): void => {
    for (const { status, code } of kinds.map((kind) => writtenIn(dialect, kind))) add(status, code);
  };
  const invalid = (kind: FaultKind, ...own: readonly (string | undefined)[]): void => {
    if (own.length > 0) add(writtenIn(dialect, kind).status, ...own);
  };
  invalid('invalid-id', ...Object.values(spec.ids ?? {}).map(({ fault }) => fault));
  if (canQueryFail(spec, dialect.unknownParameters)) invalid('invalid-query', queryFault(spec));
  if (spec.capability !== undefined || spec.requiredRole !== undefined) addKinds('forbidden');
  if (spec.role !== undefined) addKinds('not-found');
  if (spec.bodyFault !== undefined) invalid('invalid-body', spec.bodyFault);
  if (spec.idempotency === 'required') addKinds('key-required', 'key-mismatch');
  return new Map([...codes].map(([status, set]) => [status, [...set]]));
}
