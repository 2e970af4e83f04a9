import { MISMATCH, type Decoder } from '#libs/edge/decoding/decode.js';
import { Reading } from '#libs/edge/decoding/reading.js';
import { parseJson } from '#libs/edge/decoding/strict-json.js';
import { bind, endpoint, type BoundEndpoint, type Call, type EndpointSpec } from '#libs/edge/endpoint.js';
import { record, type Shape } from '#libs/edge/documents/shapes.js';
import type { Reply } from '#libs/edge/reply/reply.js';
import type { ApiCaller } from '#libs/identity/api-keys/authenticate.js';
import { apiCallerOf, type Scope } from '../caller.js';
import { BODY_RULES } from '../dialect.js';
import type { ExecutionParts } from '../execution-parts.js';
import { BodyFields } from '../fields.js';
import { params, type Params } from '../params.js';
import { answering, refuse } from '../refusals.js';
import { openBody } from '../shapes.js';
import { takeSlot } from '../slots.js';

const CODE = 'VALIDATION_INVALID_PARAMETER';
const NOTHING = Buffer.from('{}');

/** Who may call: keys with this scope and all sessions, only sessions, or only operators. */
export type ProcedureAccess = Scope | 'session' | 'operator';

interface CallOfProcedure {
  readonly caller: ApiCaller;
  readonly requestId: string;
  /** The parts that the process has opened. A procedure itself is only a declaration. */
  readonly parts: ExecutionParts;
}

export interface ProcedureCall<Input> extends CallOfProcedure {
  readonly input: Input;
}

export interface Procedure {
  readonly name: string;
  readonly kind: 'query' | 'mutation';
  readonly access: ProcedureAccess;
  readonly summary: string;
  readonly result: Shape;
  /** Codes by status, in addition to those of every procedure. */
  readonly statuses?: Readonly<Record<number, readonly string[]>>;
  readonly input: Decoder<object>;
  run(given: object, call: CallOfProcedure): Promise<unknown>;
}

/** Declares a procedure, so that the types of its input and its handler match. */
export function procedure<Input extends object>(
  head: Omit<Procedure, 'input' | 'run'>,
  input: Decoder<Input>,
  work: (call: ProcedureCall<Input>) => Promise<unknown>,
): Procedure {
  return {
    ...head,
    input,
    run(given, call) {
      const reading = new Reading({ unknown: 'refused', nulls: 'absent' });
      const read = input.decode(given, reading);
      if (read === MISMATCH) {
        const field = reading.location?.path.join('.');
        const message = field === undefined ? 'The input is wrong' : `${field} is wrong, missing or unknown`;
        throw refuse(CODE, message, field === undefined ? undefined : { field });
      }
      return work({ ...call, input: read });
    },
  };
}

/** The endpoints of a procedure. Its scope is checked before its body is read. Queries also answer to GET. */
export function endpointsOfProcedure(one: Procedure, parts: () => ExecutionParts): BoundEndpoint[] {
  const post = endpoint({ ...specOf(one), method: 'POST', body: openBody({ input: one.input.describe() }) });
  const boundPost = bind(post, (call) =>
    answer(one, parts(), call, () => {
      const input = new BodyFields(call.body, ['input'], CODE).valueOf('input') ?? {};
      if (typeof input !== 'object' || Array.isArray(input))
        throw refuse(CODE, 'input must be an object', { field: 'input' });
      return input;
    }),
  );
  if (one.kind === 'mutation') return [boundPost];
  const get = endpoint({
    ...specOf(one),
    operationId: `${one.name}.get`,
    method: 'GET',
    query: params({
      names: { input: { type: 'string', contentMediaType: 'application/json' } },
      others: 'ignored',
    }),
  });
  return [boundPost, bind(get, (call) => answer(one, parts(), call, () => inputIn(call.query)))];
}

function specOf(one: Procedure): Omit<EndpointSpec, 'method' | 'query' | 'body'> {
  const { name, access, summary, statuses = {} } = one;
  return {
    ...{ operationId: name, path: `/rpc/${name}`, access: 'session', summary },
    answers: { 200: { description: 'The result.', body: record({ result: one.result }) } },
    statuses: { ...statuses, 400: [CODE, ...(statuses[400] ?? [])], 429: ['RATE_LIMITED_CALLS'] },
    ...(access === 'session' || access === 'operator' ? { sessionOnly: true } : { capability: access }),
    ...(access === 'operator' ? { requiredRole: 'OPERATOR' } : {}),
  };
}

function inputIn(query: Params): object {
  const text = query.text('input');
  const parsed = parseJson(text === undefined ? NOTHING : Buffer.from(text), BODY_RULES);
  if (!parsed.ok) throw refuse(CODE, 'input must be one JSON object', { field: 'input' });
  return parsed.value;
}

function answer(
  one: Procedure,
  parts: ExecutionParts,
  { principal, requestId }: Pick<Call, 'principal' | 'requestId'>,
  inputOf: () => object,
): Promise<Reply> {
  return answering(async () => {
    const caller = apiCallerOf(principal);
    const input = inputOf();
    await takeSlot(parts.cells, caller, requestId, 'rpc');
    return { status: 200, body: { result: await one.run(input, { caller, requestId, parts }) } };
  });
}
