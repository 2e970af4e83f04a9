import { followed, type Operation, type Parameter } from '#libs/edge/documents/openapi-types.js';
import type { Random } from '../simulator/kernel/random.js';
import { cursorOf, ENDED, LEAVER, NEWCOMER, OWNERS, SPARE } from './cast.js';
import { showsGivenToken } from './credentials.js';
import { HANDSHAKE_SPOILS, handshakeHeaders, OF_HANDSHAKES } from './handshake-spoils.js';
import {
  clean,
  END_OF_A_HEADER,
  escaped,
  setBody,
  SPOILS,
  type Context,
  type Draft,
  type Spoil,
} from './request-spoils.js';
import { pair, SchemaValues } from './schema-values.js';
import type { Target } from './target.js';
import type { WireRequest } from './wire.js';

const STRANGERS = 0.15;
const BODIES = 0.6;
/** What an operation has a place for is spoilt more often than all the rest together. */
const LIKELY = 0.6;
const ALONE = 0.75;
const HANDSHAKES = 0.06;
/** That what would do is done is seen only where it is asked for. */
const UNSPOILT = 0.2;
const WHOLE = 0.6;
const SAME_KEY = 0.85;
/** Those of other lists are no cursors of this one. */
const OWN_CURSOR = 0.8;
const KEY = 'idempotency_key';
const ENDS = 0.05;
const OPTIONAL = { query: 0.4, header: 0.3, type: 0.3 };
/** What a handshake is called, for which the document has no operation. */
export const HANDSHAKE = 'handshake';
const GOOD_TAGS = ['*', '"x"', 'W/"x", "y"'];

/** What they lead to may be there for everybody. */
const ELSEWHERE: ReadonlySet<string> = new Set(['path', 'target', 'method']);
/** Not for requests without a body. */
const OF_BODIES: ReadonlySet<string> = new Set(['body', 'value', 'bytes']);
/** Most of what cannot be read at all is refused before any rule is asked. */
const LIKELY_IN_BODIES = ['body', 'value', 'value'];

const SPOIL_NAMES: readonly string[] = Object.keys(SPOILS).filter((name) => name !== END_OF_A_HEADER);

interface Described {
  readonly method: string;
  readonly template: string;
  readonly operation: Operation;
}

export interface Drawn {
  /** What was spoilt. */
  readonly spoils: readonly string[];
  readonly operationId: string;
  readonly request: WireRequest;
  /** Nobody was given what it shows, or not he who may do that: it must be refused. */
  readonly isStranger: boolean;
}

/** Draws requests that are close to what the document allows. */
export class HostileRequests {
  private readonly values: SchemaValues;
  private readonly operations: readonly Described[];
  private turn = 0;
  private ends = 0;

  constructor(
    private readonly target: Pick<Target, 'http' | 'tokens' | 'known'> & Partial<Pick<Target, 'streamPath'>>,
    private readonly random: Random,
  ) {
    const { paths, components } = target.http;
    this.values = new SchemaValues(components.schemas, target.known, random);
    this.operations = Object.entries(paths).flatMap(([template, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({
        method: method.toUpperCase(),
        template,
        operation,
      })),
    );
  }

  draw(): Drawn {
    const { random, target } = this;
    const { streamPath: path } = target;
    if (path !== undefined && random.chance(HANDSHAKES)) return this.handshake(path);
    const isSpoilt = !random.chance(UNSPOILT);
    const { method, template, operation } = isSpoilt ? this.operation() : this.next();
    const { tokens } = target;
    const { operationId } = operation;
    const member = random.chance(STRANGERS) ? random.pick([...tokens.keys()]) : memberFor(template);
    const token = tokens.get(INSTEAD.get(operationId) ?? member) ?? '';
    const key = random.uuid();
    const good = this.bodyOf(operation, key);
    const parameters = this.parametersOf(operation);
    const headers = [...this.headersOf(parameters), ...this.typeOf(operation)];
    const draft = draftOf(method, this.targetOf(template, operation, parameters), token, headers);
    draft.headers.push(['Idempotency-Key', key]);
    if (good !== undefined) setBody(draft, Buffer.from(JSON.stringify(good)));
    const queryNames = this.queryNames(operation);
    const likely = good === undefined ? likelyIn(queryNames) : LIKELY_IN_BODIES;
    const names = isSpoilt ? this.spoilsFor(likely) : [];
    this.ends += names.includes(END_OF_A_HEADER) ? 1 : 0;
    const request = this.spoilt(draft, names, SPOILS, { queryNames, good, token });
    const isElsewhere = operation.security.length === 0 || names.some((name) => ELSEWHERE.has(name));
    const owner = OWNERS.get(operationId);
    const isForeign = owner !== undefined && token !== tokens.get(owner);
    const isStranger = !isElsewhere && (isForeign || !showsGivenToken(request, target));
    return { spoils: names, operationId, request, isStranger };
  }

  /** As the document allows it, or one that the rules allow too. Most name the key of their header, where they name one. */
  private bodyOf({ operationId, requestBody }: Operation, key: string): unknown {
    const { random, target } = this;
    const { schema } = requestBody?.content['application/json'] ?? {};
    if (schema === undefined) return undefined;
    const whole = target.known.get(operationId) ?? [];
    const body = whole.length > 0 && random.chance(WHOLE) ? random.pick(whole) : this.values.value(schema);
    const isNamed = typeof body === 'object' && body !== null && KEY in body && random.chance(SAME_KEY);
    return isNamed ? { ...body, [KEY]: key } : body;
  }

  private handshake(path: string): Drawn {
    const { random } = this;
    const token = this.target.tokens.get('maker-1') ?? '';
    const draft = draftOf('GET', path, token, handshakeHeaders(random));
    const spoils = { ...HANDSHAKE_SPOILS, ...OF_HANDSHAKES };
    const names = Array.from({ length: random.between(1, 2) }, () => random.pick(Object.keys(spoils)));
    const request = this.spoilt(draft, names, spoils, { queryNames: [], good: undefined, token });
    return {
      spoils: names,
      operationId: HANDSHAKE,
      request,
      isStranger: !showsGivenToken(request, this.target),
    };
  }

  private spoilt(
    draft: Draft,
    names: readonly string[],
    spoils: Readonly<Record<string, Spoil>>,
    about: Pick<Context, 'queryNames' | 'good' | 'token'>,
  ): Draft {
    const { random } = this;
    const cursors = (this.target.known.get('cursor') ?? []).map(String);
    for (const name of new Set(names)) spoils[name]?.(draft, { ...about, cursors, random, turn: this.ends });
    return draft;
  }

  /** All of them in turn: with luck alone some would never be asked for. */
  private next(): Described {
    const described = this.operations[this.turn % this.operations.length];
    if (described === undefined) throw new RangeError('the document has no operations');
    this.turn += 1;
    return described;
  }

  /** Those with a body come more often, and then those with a query: most can be wrong there. */
  private operation(): Described {
    const { random } = this;
    const withBody = this.operations.filter(({ operation }) => operation.requestBody !== undefined);
    const bare = this.operations.filter(({ operation }) => operation.requestBody === undefined);
    const asking = bare.filter(({ operation }) => this.queryNames(operation).length > 0);
    const others = [...bare, ...asking, ...asking];
    return random.pick(others.length === 0 || random.chance(BODIES) ? withBody : others);
  }

  private spoilsFor(likely: readonly string[]): readonly string[] {
    const { random } = this;
    if (random.chance(ENDS)) return [END_OF_A_HEADER];
    const names = SPOIL_NAMES.filter((name) => likely.includes('body') || !OF_BODIES.has(name));
    const first = random.pick(likely.length > 0 && random.chance(LIKELY) ? likely : names);
    return random.chance(ALONE) ? [first] : [...new Set([first, random.pick(names)])];
  }

  private parametersOf(operation: Operation): Parameter[] {
    return operation.parameters.map((parameter) =>
      followed<Parameter>(parameter, this.target.http.components.parameters),
    );
  }

  private queryNames(operation: Operation): string[] {
    return this.parametersOf(operation)
      .filter((each) => each.in === 'query')
      .map(({ name }) => name);
  }

  private targetOf(template: string, operation: Operation, parameters: readonly Parameter[]): string {
    const { random, target } = this;
    const special = OTHER_AUCTIONS.get(operation.operationId);
    const known = new Map(target.known);
    const own = known.get(cursorOf(operation.operationId));
    if (own !== undefined && random.chance(OWN_CURSOR)) known.set('cursor', own);
    if (template.includes('{quoteID}')) pair(known, ['auctionID', 'quoteID'], random);
    const values = new SchemaValues(target.http.components.schemas, known, random);
    const path = template.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
      String(values.value({ type: 'string', format: 'uuid' }, special ?? name)),
    );
    const query = parameters
      .filter((parameter) => parameter.in === 'query' && random.chance(OPTIONAL.query))
      .map(({ name, schema }) => `${name}=${escaped(String(values.value(schema, name)))}`);
    return query.length === 0 ? path : `${path}?${query.join('&')}`;
  }

  /** What the document knows besides the names of callers and calls. */
  private headersOf(parameters: readonly Parameter[]): [string, string][] {
    const { random } = this;
    const isTagged = parameters.some(({ name }) => name === 'If-None-Match');
    return isTagged && random.chance(OPTIONAL.header) ? [['If-None-Match', random.pick(GOOD_TAGS)]] : [];
  }

  /** One of the types in which it can be answered. */
  private typeOf({ responses }: Operation): [string, string][] {
    const { random } = this;
    const types = Object.values(responses).flatMap((response) =>
      'content' in response ? Object.keys(response.content) : [],
    );
    return types.length > 0 && random.chance(OPTIONAL.type) ? [['Accept', random.pick(types)]] : [];
  }
}

/** What may be spoilt of a query that knows these names. */
function likelyIn(queryNames: readonly string[]): string[] {
  if (queryNames.length === 0) return [];
  return queryNames.includes('cursor') ? ['query', 'cursor'] : ['query'];
}

function draftOf(method: string, target: string, token: string, headers: [string, string][]): Draft {
  return {
    method,
    target,
    headers: [['Host', '127.0.0.1'], ['Authorization', `Bearer ${clean(token)}`], ...headers],
    body: Buffer.alloc(0),
    isIncomplete: false,
  };
}

/** What is taken away from nobody, and what is over. */
const OTHER_AUCTIONS: ReadonlyMap<string, string> = new Map([
  ['cancelAuction', SPARE],
  ['voidAuction', SPARE],
  ['getAuditedAuction', ENDED],
  ['getReplayBundle', ENDED],
]);
/** Who has no quote yet may give one, and sessions that the others need go on. */
const INSTEAD: ReadonlyMap<string, string> = new Map([
  ['submitQuote', NEWCOMER],
  ['preflightQuote', NEWCOMER],
  ['logout', LEAVER],
  ['logoutAll', LEAVER],
]);

/** The demo account that the path is there for. */
function memberFor(template: string): string {
  if (template.startsWith('/v1/ops')) return 'operator-1';
  if (template.startsWith('/v1/audit')) return 'auditor-1';
  return template.includes('quotes') || template.includes('protection') ? 'maker-1' : 'originator-2';
}
