import fc from 'fast-check';
import type { JsonSchema } from '#libs/edge/decoding/decode.js';
import {
  followed,
  type OpenApi,
  type OpenApiOperation,
  type Parameter,
} from '#libs/edge/documents/openapi-types.js';
import { CALLERS, OWNERS } from './accounts.js';
import { showsGivenToken } from './given-tokens.js';
import { mutatedJson, nearValue } from './mutations.js';
import { ATTACKS, HANDSHAKE_ATTACKS, HANDSHAKE_HEADERS, MANY } from './raw-attacks.js';
import { SchemaArbitraries } from './schema-arbitrary.js';
import type { FuzzTarget } from './target.js';
import { forgedToken } from './tokens.js';
import { clean, withHeader, type WireRequest } from './wire.js';

export const KEY = 'Idempotency-Key';
const HANDSHAKE = 'openStream';
const KEY_FIELD = 'idempotency_key';
const METHODS = ['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'HEAD'];
const CONTENT: readonly Named[] = [
  ...['text/plain', 'application/json; charset=utf-16', 'multipart/form-data', ''].map((type): Named => [
    'Content-Type',
    type,
  ]),
  ...['gzip', 'br', 'identity', 'deflate, gzip', 'x'].map((coding): Named => ['Content-Encoding', coding]),
];
const STRANGE_NAMES = ['limit', 'cursor', 'x', '__proto__', ''];
const SCHEMES = ['bearer  x', 'Basic x', 'Bearer', 'x', 'Bearer x,y', ''];
/** Longer ones are an attack on the wire. */
const LONGEST = 4_000;
const ROUND = 6;

export interface Drawn {
  readonly operationId: string;
  readonly request: WireRequest;
  readonly mutations: readonly string[];
  /** It shows no issued token, or not its owner's, and must be refused. */
  readonly isStranger: boolean;
  /** It is certainly one complete request, whatever it contains, and must be answered. */
  readonly isWellFormed: boolean;
}

interface Described {
  readonly method: string;
  readonly template: string;
  readonly operation: OpenApiOperation;
  readonly parameters: readonly Parameter[];
  readonly body: JsonSchema | undefined;
}

/** The parts of a request: each parameter as text, and the JSON of the body. */
interface Draft {
  readonly described: Described;
  readonly method: string;
  readonly token: string;
  readonly path: Texts;
  readonly query: Texts;
  readonly headers: Texts;
  readonly value: unknown;
  readonly body: Buffer;
}

type Texts = Readonly<Record<string, string | undefined>>;
type Named = readonly [name: string, text: string];
type Mutated = readonly [readonly string[], WireRequest];

/** Draws requests from the OpenAPI document; most break its rules. */
export class HostileRequests {
  private readonly all: readonly Described[];
  /** Operations with parameters or a body, which can be wrong in more ways. */
  private readonly taking: readonly Described[];
  private readonly values: SchemaArbitraries;
  private readonly turns = { plain: 0, any: 0, taking: 0 };
  private drawn = 0;

  constructor(
    private readonly target: Pick<FuzzTarget, 'http' | 'tokens' | 'real' | 'auctionOf'>,
    private readonly seed: number,
  ) {
    this.values = new SchemaArbitraries(target.http.components.schemas, target.real);
    this.all = describedIn(target.http);
    const writing = this.all.filter(({ body }) => body !== undefined);
    const asking = this.all.filter(({ parameters }) => parameters.some((each) => each.in === 'query'));
    const handshakes = this.all.filter(({ operation }) => operation.operationId === HANDSHAKE);
    this.taking = [...writing, ...asking, ...asking, ...handshakes, ...handshakes];
  }

  /** Operations come in turn. One request in six is valid, and is seen to be accepted. */
  draw(): Drawn {
    const turn = this.drawn % ROUND;
    this.drawn += 1;
    const kind = turn === 0 ? 'plain' : turn === 1 ? 'any' : 'taking';
    const list = kind === 'taking' ? this.taking : this.all;
    const described = list[this.turns[kind] % list.length];
    this.turns[kind] += 1;
    if (described === undefined) throw new RangeError('the document has no such operations');
    const drawn = this.draft(described).chain((draft) => {
      const plain: Mutated = [[], written(draft)];
      const mutated =
        kind === 'plain' ? fc.constant(plain) : this.mutated(draft, plain, kind === 'any' ? 5 : 1);
      return mutated.map((each) => this.judged(draft, each));
    });
    return sampled(drawn, mixed(this.seed, this.drawn));
  }

  private judged({ described, token }: Draft, [mutations, request]: Mutated): Drawn {
    const { operationId, security } = described.operation;
    const owner = OWNERS.get(operationId);
    const isForeign = owner !== undefined && token !== this.target.tokens.get(owner);
    // Another path may be open to everyone.
    const isElsewhere = security.length === 0 || mutations.some((name) => /path|target|method/.test(name));
    const isStranger = !isElsewhere && (isForeign || !showsGivenToken(request, this.target.tokens));
    const isWellFormed = mutations.every((name) => !(name in ATTACKS || name in HANDSHAKE_ATTACKS));
    return { operationId, request, mutations, isStranger, isWellFormed };
  }

  /** Valid, and usually sent by an account that may do it. */
  private draft(described: Described): fc.Arbitrary<Draft> {
    const { method, template, operation, parameters, body } = described;
    const { tokens, auctionOf } = this.target;
    // A logout must not end a session that is needed, so it has its own caller.
    const other = CALLERS.get(operation.operationId);
    const own = fc.constant(other ?? callerOf(template));
    const textsIn = (where: Parameter['in']): Record<string, fc.Arbitrary<string>> =>
      Object.fromEntries(
        parameters
          .filter((each) => each.in === where)
          .map(({ name, schema }) => [name, this.values.of(schema, operation.operationId, name).map(String)]),
      );
    const types = Object.values(operation.responses).flatMap((each) =>
      Object.keys('content' in each ? each.content : {}),
    );
    const accept: Record<string, fc.Arbitrary<string>> = types.length === 0
      ? {}
      : { Accept: fc.constantFrom(...types) };
    return fc
      .record({
        caller:
          other === undefined
            ? fc.oneof({ weight: 6, arbitrary: own }, fc.constantFrom(...tokens.keys()))
            : own,
        path: fc.record(textsIn('path')),
        isPaired: fc.constantFrom(true, true, true, false),
        query: fc.record(textsIn('query'), { requiredKeys: [] }),
        headers: fc.record({ ...textsIn('header'), ...accept }, { requiredKeys: [] }),
        key: fc.uuid(),
        value:
          body === undefined ? fc.constant(undefined) : this.values.of(body, operation.operationId, 'body'),
      })
      .map(({ caller, path, isPaired, query, headers, key, value }) => {
        const auction = isPaired ? auctionOf(path.quoteID ?? '') : undefined;
        const isKeyed = parameters.some(({ name }) => name === KEY);
        const said = isKeyed ? withKey(value, key) : value;
        return {
          described,
          method,
          token: tokens.get(caller) ?? '',
          path: auction === undefined ? path : { ...path, auctionID: auction },
          query,
          headers: isKeyed ? { ...headers, [KEY]: key } : headers,
          value: said,
          body: Buffer.from(said === undefined ? '' : JSON.stringify(said)),
        };
      });
  }

  /** Mutates a documented part, the bytes on the wire, or both. */
  private mutated(draft: Draft, plain: Mutated, attacks: number): fc.Arbitrary<Mutated> {
    const inside = this.mutatedInside(draft).map(([name, other]): Mutated => [[name], written(other)]);
    return fc.oneof(
      { weight: 6, arbitrary: inside },
      { weight: attacks, arbitrary: attacked(draft, plain) },
      { weight: 1, arbitrary: inside.chain((mutated) => attacked(draft, mutated)) },
    );
  }

  private mutatedInside(draft: Draft): fc.Arbitrary<readonly [string, Draft]> {
    const { described, path, query, headers, token, value } = draft;
    const { body = {}, parameters } = described;
    const { schemas } = this.target.http.components;
    const header = ([name, text]: Named): Partial<Draft> => ({
      headers: { ...headers, [name]: printable(text) },
    });
    const tokens = fc.oneof(forgedToken(token), forgedToken(token), fc.constantFrom(...SCHEMES));
    const places: Record<string, readonly [number, fc.Arbitrary<Partial<Draft>>]> = {
      path: [
        2,
        this.parameter(draft, 'path', []).map(([name, text]) => ({ path: { ...path, [name]: text } })),
      ],
      query: [
        parameters.some((each) => each.in === 'query') ? 15 : 1,
        this.parameter(draft, 'query', STRANGE_NAMES).map(([name, text]) => ({
          query: { ...query, [name]: text },
        })),
      ],
      header: [3, this.parameter(draft, 'header', ['Accept']).map(header)],
      token: [
        3,
        tokens.map((text) => header(['Authorization', SCHEMES.includes(text) ? text : `Bearer ${text}`])),
      ],
      method: [1, fc.constantFrom(...METHODS).map((method) => ({ method }))],
      content: [2, fc.constantFrom(...CONTENT).map(header)],
      body: [25, mutatedJson(value ?? {}, body, schemas).map((bytes) => ({ body: bytes }))],
    };
    const isThere = (name: string): boolean =>
      (name !== 'path' || Object.keys(path).length > 0) && (name !== 'body' || described.body !== undefined);
    return fc.oneof(
      ...Object.entries(places)
        .filter(([name]) => isThere(name))
        .map(([name, [weight, changes]]) => ({
          weight,
          arbitrary: changes.map((change): readonly [string, Draft] => [name, { ...draft, ...change }]),
        })),
    );
  }

  /** A documented parameter or another one, with a value that its schema does not allow. */
  private parameter(
    { described }: Draft,
    where: Parameter['in'],
    others: readonly string[],
  ): fc.Arbitrary<Named> {
    const { parameters, operation } = described;
    const known = parameters.filter((each) => each.in === where);
    const names = [
      ...known,
      ...known,
      ...known,
      ...known,
      ...known,
      ...others.map((name) => ({ name, schema: {} })),
    ];
    if (names.length === 0) return fc.constant(['', '']);
    return fc.constantFrom(...names).chain(({ name, schema }) =>
      this.values
        .of(schema, operation.operationId, name)
        .chain((good) => nearValue(good, schema))
        .map((text): Named => [name, text.slice(0, LONGEST)]),
    );
  }
}

function describedIn({ paths, components }: OpenApi): Described[] {
  return Object.entries(paths).flatMap(([template, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      method: method.toUpperCase(),
      template,
      operation,
      parameters: operation.parameters.map((each) => followed<Parameter>(each, components.parameters)),
      body: operation.requestBody?.content['application/json']?.schema,
    })),
  );
}

function attacked({ described, token }: Draft, [mutations, request]: Mutated): fc.Arbitrary<Mutated> {
  const isHandshake = described.operation.operationId === HANDSHAKE;
  const attacks = Object.entries(isHandshake ? { ...HANDSHAKE_ATTACKS, ...ATTACKS } : ATTACKS);
  return fc.oneof(
    ...attacks.map(([name, attack]) => ({
      weight: MANY.has(name) || name in HANDSHAKE_ATTACKS ? 4 : 1,
      arbitrary: attack.map((change): Mutated => [[...mutations, name], change(request, token)]),
    })),
  );
}

function written({ described, method, token, path, query, headers, body }: Draft): WireRequest {
  const { template, operation } = described;
  const filled = template.replaceAll(/\{(\w+)\}/g, (_, name: string) => escaped(path[name] ?? ''));
  const asked = Object.entries(query).map(([name, value]) => `${name}=${escaped(value ?? '')}`);
  const request: WireRequest = {
    method,
    target: asked.length === 0 ? filled : `${filled}?${asked.join('&')}`,
    headers: [
      ['Host', '127.0.0.1'],
      ...(operation.operationId === HANDSHAKE ? HANDSHAKE_HEADERS : []),
      ...Object.entries({
        Authorization: `Bearer ${token}`,
        ...(body.length === 0 ? {} : { 'Content-Type': 'application/json' }),
        ...headers,
      }),
    ],
    body,
    isIncomplete: false,
  };
  return body.length === 0 ? request : withHeader(request, 'Content-Length', String(body.length));
}

function withKey(body: unknown, key: string): unknown {
  return typeof body === 'object' && body !== null && KEY_FIELD in body
    ? { ...body, [KEY_FIELD]: key }
    : body;
}

/** Characters allowed in a header; any others are an attack on the wire. */
function printable(text: string): string {
  return clean(text)
    .replaceAll(/[^ -~]/g, '')
    .trim();
}

/** Half a surrogate pair cannot be in a path, so it becomes the replacement character. */
function escaped(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}

/** The demo account that the path is for. */
function callerOf(template: string): string {
  if (template.startsWith('/v1/ops')) return 'operator-1';
  if (template.startsWith('/v1/audit')) return 'auditor-1';
  return /quotes|protection|stream/.test(template) ? 'maker-1' : 'originator-2';
}

/** The value that follows from a seed. */
export function sampled<Value>(values: fc.Arbitrary<Value>, seed: number): Value {
  const [value] = fc.sample(
    values.map((each) => ({ each })),
    { seed, numRuns: 1 },
  );
  if (value === undefined) throw new RangeError('nothing was drawn');
  return value.each;
}

/** Another seed for each draw. */
export function mixed(seed: number, turn: number): number {
  return Math.imul(Math.imul(seed + 1, 0x9e3779b1) ^ (turn + 1), 0x85ebca6b) | 0;
}
