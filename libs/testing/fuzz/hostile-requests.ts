import { followed, type Operation, type Parameter } from '#libs/edge/documents/openapi-types.js';
import type { Random } from '../simulator/kernel/random.js';
import { hostileToken } from './hostile-tokens.js';
import { mutatedBytes, mutatedJson, mutatedText } from './mutations.js';
import { SchemaValues } from './schema-values.js';
import type { Target } from './target.js';
import type { WireRequest } from './wire.js';

interface Draft {
  method: string;
  target: string;
  headers: [string, string][];
  body: Buffer;
  isIncomplete: boolean;
}

/** What is done to a request that would do. */
type Spoil = (draft: Draft, context: Context) => void;

interface Context {
  readonly operation: Operation;
  readonly good: unknown;
  readonly token: string;
  readonly random: Random;
}

const METHODS = [
  'get',
  'post',
  'put',
  'delete',
  'PATCH',
  'OPTIONS',
  'TRACE',
  'CONNECT',
  'HEAD',
  'BREW',
  'G ET',
  '',
];
const TYPES = [
  'text/plain',
  'application/json; charset=utf-16',
  'multipart/form-data; boundary=x',
  'application/x-www-form-urlencoded',
  '',
];
const ENCODINGS = ['gzip', 'br', 'identity', 'deflate, gzip', 'x'];
const INTERNAL = [
  'X-Service-Token',
  'X-Auction-Peer',
  'X-Auction-Active-Only',
  'X-Auction-Owner-Read-Fallback',
];

const SPOILS: Readonly<Record<string, Spoil>> = {
  body: (draft, { good, random }) => setBody(draft, mutatedJson(good, random)),
  bytes: (draft, { random }) => setBody(draft, mutatedBytes(draft.body, random)),
  noise: (draft, { random }) => setBody(draft, random.bytes(random.below(400))),
  token: (draft, { token, random }) =>
    setHeader(draft, 'Authorization', `Bearer ${clean(hostileToken(token, random))}`),
  scheme: (draft, { token, random }) =>
    setHeader(
      draft,
      'Authorization',
      random.pick([`bearer  ${token}`, `Basic ${token}`, token, 'Bearer', `Bearer ${token},x`]),
    ),
  path: (draft, { random }) => {
    const [path = '', query] = draft.target.split('?');
    const parts = path.split('/');
    const at = random.below(parts.length);
    parts[at] = random.pick([
      escaped(clean(mutatedText(parts[at] ?? '', random)).slice(0, 3_000)),
      '..',
      '%2e%2e',
      '%',
      '%zz',
      '%00',
      '',
      '.',
      ';x=1',
      '\u00e9',
      'constructor',
      'x'.repeat(3_000),
    ]);
    draft.target = `${parts.join('/')}${query === undefined ? '' : `?${query}`}`;
  },
  query: (draft, { random }) => {
    const name = random.pick(['limit', 'cursor', 'after_seq', 'status', 'venue', 'x', '__proto__', '']);
    const value = random.pick([
      '0',
      '-1',
      '51',
      '1e9',
      '%',
      '%00',
      '1&limit=2',
      'x'.repeat(700),
      escaped('é'),
      '9'.repeat(30),
    ]);
    draft.target += `${draft.target.includes('?') ? '&' : '?'}${name}=${value}`;
  },
  cursor: (draft, { random }) => {
    const positions = [
      { o: 1, i: 2 },
      { o: '9'.repeat(60), i: 'x' },
      { o: '2026-11-20T12:00:00.000000000Z' },
      [],
      null,
      'x',
      { o: '2026-13-45T99:99:99.000000000Z', i: random.uuid() },
    ];
    const text = Buffer.from(JSON.stringify(random.pick<unknown>(positions))).toString('base64url');
    draft.target = `${draft.target.split('?')[0] ?? ''}?cursor=${random.chance(0.5) ? text : escaped(mutatedText(text, random)).slice(0, 900)}`;
  },
  method: (draft, { random }) => (draft.method = random.pick(METHODS)),
  type: (draft, { random }) => setHeader(draft, 'Content-Type', random.pick(TYPES)),
  encoding: (draft, { random }) => setHeader(draft, 'Content-Encoding', random.pick(ENCODINGS)),
  key: (draft, { random }) =>
    setHeader(
      draft,
      'Idempotency-Key',
      clean(random.pick(['', ' ', 'x'.repeat(129), 'a b', 'é', '\u0000', '../..', "';--"])),
    ),
  'no key': (draft) => (draft.headers = draft.headers.filter(([name]) => name !== 'Idempotency-Key')),
  internal: (draft, { random }) =>
    draft.headers.push([random.pick(INTERNAL), random.pick(['', 'true', 'x'.repeat(32)])]),
  'request id': (draft, { random }) =>
    draft.headers.push(['X-Request-Id', clean(random.pick(['', 'x'.repeat(400), 'a b', 'é', '{"a":1}']))]),
  length: (draft, { random }) => {
    draft.isIncomplete = true;
    setHeader(
      draft,
      'Content-Length',
      random.pick(['-1', '1e3', '99', '99999999999999999999', '0x10', '', '5, 6', '+5']),
    );
  },
  chunks: (draft, { random }) => {
    draft.isIncomplete = true;
    setHeader(
      draft,
      'Transfer-Encoding',
      random.pick(['chunked', 'gzip, chunked', 'chunked, chunked', 'identity', 'xchunked', ' chunked']),
    );
    draft.body = Buffer.from(
      random.pick([
        'ffffffffffff\r\nx',
        '-1\r\nx\r\n',
        '2\r\n{}\r\n0\r\n\r\n',
        '0\r\n\r\n',
        'zz\r\n',
        '1;x=y\r\n{\r\n',
        '2\r\n{}\r\n0\r\nX-Service-Token: x\r\n\r\n',
      ]),
    );
  },
  'many headers': (draft, { random }) => {
    for (let count = random.pick([60, 150]); count > 0; count -= 1) draft.headers.push([`X-${count}`, 'x']);
  },
  'long header': (draft, { random }) =>
    draft.headers.push(['X-Long', 'x'.repeat(random.pick([8_000, 20_000, 100_000]))]),
  'broken header': (draft, { random }) =>
    draft.headers.push([random.pick(['X Y', 'X\u0000', '', ':', 'X\r\n Y', '\u00ff']), 'x']),
  host: (draft, { random }) =>
    random.pick([
      () => (draft.headers = draft.headers.filter(([name]) => name !== 'Host')),
      () => draft.headers.push(['Host', 'other']),
      () => setHeader(draft, 'Host', clean(random.pick(['', 'a b', 'x'.repeat(300), '[::1', 'é']))),
    ])(),
  target: (draft, { random }) =>
    (draft.target = random.pick([
      '*',
      'http://elsewhere/v1/me',
      '//',
      '/v1//auctions',
      '/%2f..%2f',
      '\\',
      '/?',
      '?',
      '/v1/auctions#x',
      '/v1/me/../auctions',
    ])),
};

const STRANGERS = 0.15;
const BODIES = 0.6;
const ALONE = 0.75;

/** Of requests without a body, and of those that are never to show a good token. */
const OF_BODIES = ['body', 'bytes'];
const OF_TOKENS = ['token', 'scheme'];

const SPOIL_NAMES: readonly string[] = Object.keys(SPOILS);

interface Described {
  readonly method: string;
  readonly template: string;
  readonly operation: Operation;
}

/** Draws requests that are close to what the document allows. */
export class HostileRequests {
  private readonly values: SchemaValues;
  private readonly operations: readonly Described[];

  constructor(
    private readonly target: Pick<Target, 'http' | 'tokens' | 'known'>,
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

  /** What was spoilt, and the request. */
  draw(): {
    readonly spoils: readonly string[];
    readonly operationId: string;
    readonly request: WireRequest;
  } {
    const { random } = this;
    const { method, template, operation } = this.operation();
    const { tokens } = this.target;
    const { operationId } = operation;
    const member = random.chance(STRANGERS) ? random.pick([...tokens.keys()]) : memberFor(template);
    const token = tokens.get(member) ?? '';
    const shown = SPARED.has(operationId) ? hostileToken(token, random) : token;
    const { schema } = operation.requestBody?.content['application/json'] ?? {};
    const good = schema === undefined ? undefined : this.values.value(schema);
    const draft: Draft = {
      method,
      target: this.targetOf(template, operation),
      headers: [
        ['Host', '127.0.0.1'],
        ['Authorization', `Bearer ${clean(shown)}`],
        ['Idempotency-Key', random.uuid()],
      ],
      body: Buffer.alloc(0),
      isIncomplete: false,
    };
    if (good !== undefined) setBody(draft, Buffer.from(JSON.stringify(good)));
    const spoils = this.spoilsFor(good !== undefined, SPARED.has(operationId));
    for (const name of spoils) SPOILS[name]?.(draft, { operation, good, token, random });
    return { spoils, operationId, request: draft };
  }

  /** Those with a body come more often: most can be wrong there. */
  private operation(): Described {
    const { random } = this;
    const withBody = this.operations.filter(({ operation }) => operation.requestBody !== undefined);
    return random.pick(random.chance(BODIES) ? withBody : this.operations);
  }

  private spoilsFor(hasBody: boolean, isSpared: boolean): readonly string[] {
    const { random } = this;
    const unfit = new Set([...(hasBody ? [] : OF_BODIES), ...(isSpared ? OF_TOKENS : [])]);
    const names = SPOIL_NAMES.filter((name) => !unfit.has(name));
    const first = hasBody && random.chance(BODIES) ? 'body' : random.pick(names);
    return random.chance(ALONE) ? [first] : [...new Set([first, random.pick(names)])];
  }

  private targetOf(template: string, operation: Operation): string {
    const parameters = operation.parameters.map((parameter) =>
      followed<Parameter>(parameter, this.target.http.components.parameters),
    );
    const path = template.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
      String(
        this.values.value({ type: 'string', format: 'uuid' }, ENDS.has(operation.operationId) ? '' : name),
      ),
    );
    const query = parameters
      .filter((parameter) => parameter.in === 'query' && this.random.chance(0.3))
      .map(({ name, schema }) => `${name}=${escaped(String(this.values.value(schema, name)))}`);
    return query.length === 0 ? path : `${path}?${query.join('&')}`;
  }
}

/** Ids of what there is are not for those who would take it away from the others. */
const ENDS: ReadonlySet<string> = new Set(['cancelAuction', 'voidAuction']);
/** They would end the sessions that the others need, or stop the service for everybody: strangers alone ask for that. */
const SPARED: ReadonlySet<string> = new Set(['logout', 'logoutAll', 'drainShard', 'imposeHalt']);

/** The demo account that the path is there for. */
function memberFor(template: string): string {
  if (template.startsWith('/v1/ops')) return 'operator-1';
  if (template.startsWith('/v1/audit')) return 'auditor-1';
  return template.includes('quotes') || template.includes('protection') ? 'maker-1' : 'originator-2';
}

function setBody(draft: Draft, body: Buffer): void {
  draft.body = body;
  setHeader(draft, 'Content-Type', 'application/json');
  setHeader(draft, 'Content-Length', String(body.length));
}

function setHeader(draft: Draft, name: string, value: string): void {
  draft.headers = [...draft.headers.filter(([each]) => each !== name), [name, value]];
}

/** Without line ends, which would begin another header of which nobody here knows. */
function clean(text: string): string {
  return text.replaceAll(/[\r\n]/g, '');
}

/** Half a character, which no path can hold, becomes the one that stands for what is wrong. */
function escaped(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}
