import type { Random } from '../simulator/kernel/random.js';
import { hostileToken } from './hostile-tokens.js';
import {
  ENDS,
  LONG,
  mutatedBytes,
  mutatedJson,
  mutatedText,
  otherwise,
  WRONG_AT_THEIR_END,
} from './mutations.js';

/** A request on its way to being sent. */
export interface Draft {
  method: string;
  target: string;
  headers: [string, string][];
  body: Buffer;
  isIncomplete: boolean;
}

/** What is done to a request that would do. */
export type Spoil = (draft: Draft, context: Context) => void;

export interface Context {
  /** Of what the document knows in the query of this operation. */
  readonly queryNames: readonly string[];
  /** Real ones, of lists of whatever kind. */
  readonly cursors: readonly string[];
  readonly good: unknown;
  readonly token: string;
  readonly random: Random;
  /** How many ends of headers there were before. */
  readonly turn: number;
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
const STRANGE_NAMES = ['limit', 'cursor', 'after_seq', 'status', 'venue', 'x', '__proto__', ''];
const PARTS_OF_PLACES: readonly unknown[] = [
  '\u0000',
  'x\u0000',
  '\u0000x',
  'x\u0000y',
  '\ud800',
  '',
  'x',
  'x'.repeat(500),
  '9'.repeat(60),
  '2026-13-45T99:99:99.000000000Z',
  '00000000-0000-4000-8000-000000000000',
  -1,
  1e300,
  null,
  [],
];
const INTERNAL = [
  'X-Service-Token',
  'X-Auction-Peer',
  'X-Auction-Active-Only',
  'X-Auction-Owner-Read-Fallback',
];

/** What is read of a request before anybody is asked who it is from, and how it may begin. */
const BEGINNINGS: readonly (readonly [string, string])[] = [
  ['Host', ''],
  ['Content-Type', ''],
  ['Content-Type', 'application/json; charset='],
  ['Content-Type', 'application/json; charset="'],
  ['Accept', 'application/'],
  ['Accept', 'application/json;q='],
  ['Authorization', 'Bearer '],
  ['If-None-Match', '"'],
  ['If-None-Match', 'W/"'],
  ['Idempotency-Key', ''],
  ['X-Request-Id', ''],
  ['Content-Encoding', ''],
  ['Expect', ''],
  ['Origin', 'http://'],
  ['Connection', ''],
  ['Upgrade', ''],
  ['Sec-WebSocket-Protocol', 'authorization, Bearer.'],
  ['Sec-WebSocket-Extensions', 'permessage-deflate; '],
  ['traceparent', '00-'],
];
export const END_OF_A_HEADER = 'end of a header';

export const SPOILS: Readonly<Record<string, Spoil>> = {
  // Each place and each end in turn: it takes the one at the other, and with luck alone they would not meet.
  [END_OF_A_HEADER]: (draft, { random, turn }) => {
    const [name, beginning] = BEGINNINGS[turn % BEGINNINGS.length] ?? ['Host', ''];
    const end = ENDS[Math.floor(turn / BEGINNINGS.length) % ENDS.length] ?? '';
    setHeader(draft, name, `${beginning}${random.pick(LONG)}${end}`);
  },
  body: (draft, { good, random }) => setBody(draft, mutatedJson(good, random)),
  value: (draft, { good, random }) => {
    let other = good;
    for (let times = random.between(1, 2); times > 0; times -= 1) other = otherwise(other, random);
    setBody(draft, Buffer.from(JSON.stringify(other)));
  },
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
      escaped(random.pick(WRONG_AT_THEIR_END)),
      'x'.repeat(3_000),
    ]);
    draft.target = `${parts.join('/')}${query === undefined ? '' : `?${query}`}`;
  },
  query: (draft, { queryNames, random }) => {
    const name = random.pick(random.chance(0.7) && queryNames.length > 0 ? queryNames : STRANGE_NAMES);
    const value = random.pick([
      '0',
      '-1',
      '51',
      '1e9',
      '%',
      '%00',
      'x%00',
      '%00x',
      'x%00y',
      '%ed%a0%80',
      '1&limit=2',
      'x'.repeat(700),
      escaped(random.pick(WRONG_AT_THEIR_END)),
      escaped('é'),
      '9'.repeat(30),
    ]);
    draft.target += `${draft.target.includes('?') ? '&' : '?'}${name}=${value}`;
  },
  cursor: (draft, { cursors, random }) => {
    const real = random.pick(cursors.length > 0 ? cursors : ['']);
    const text = random.chance(0.7)
      ? Buffer.from(JSON.stringify(otherPlace(openedCursor(real), random)))
          .toString('base64url')
          .slice(0, 900)
      : escaped(mutatedText(real, random)).slice(0, 900);
    draft.target = `${draft.target.split('?')[0] ?? ''}?cursor=${text}`;
  },
  conditional: (draft, { random }) =>
    setHeader(
      draft,
      'If-None-Match',
      clean(
        random.pick([
          '*',
          '""',
          '"x"',
          'W/"x"',
          '"x',
          'x',
          '',
          '"a", "b"',
          '"é"',
          `"${random.pick(WRONG_AT_THEIR_END)}`,
          `${'"x", '.repeat(60)}!`,
          `"${'x'.repeat(4_000)}"`,
        ]),
      ),
    ),
  accept: (draft, { random }) =>
    setHeader(
      draft,
      'Accept',
      random.pick([
        'application/x-ndjson',
        'application/x-ndjson;q=0',
        'text/event-stream',
        '*/*;q=x',
        'text/html',
        '',
        ',,',
        `${'a/b;q=0.1,'.repeat(40)}!`,
        'x'.repeat(2_000),
      ]),
    ),
  method: (draft, { random }) => (draft.method = random.pick(METHODS)),
  type: (draft, { random }) => setHeader(draft, 'Content-Type', random.pick(TYPES)),
  encoding: (draft, { random }) => setHeader(draft, 'Content-Encoding', random.pick(ENCODINGS)),
  key: (draft, { random }) =>
    setHeader(
      draft,
      'Idempotency-Key',
      clean(
        random.pick([...WRONG_AT_THEIR_END, '', ' ', 'x'.repeat(129), 'a b', 'é', '\u0000', '../..', "';--"]),
      ),
    ),
  'no key': (draft) => (draft.headers = draft.headers.filter(([name]) => name !== 'Idempotency-Key')),
  internal: (draft, { random }) =>
    draft.headers.push([random.pick(INTERNAL), random.pick(['', 'true', 'x'.repeat(32)])]),
  'request id': (draft, { random }) =>
    draft.headers.push([
      'X-Request-Id',
      clean(random.pick([...WRONG_AT_THEIR_END, '', 'x'.repeat(400), 'a b', 'é', '{"a":1}'])),
    ]),
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

export function setBody(draft: Draft, body: Buffer): void {
  draft.body = body;
  setHeader(draft, 'Content-Type', 'application/json');
  setHeader(draft, 'Content-Length', String(body.length));
}

export function setHeader(draft: Draft, name: string, value: string): void {
  draft.headers = [...draft.headers.filter(([each]) => each !== name), [name, value]];
}

/** Without line ends, which would begin another header of which nobody here knows. */
export function clean(text: string): string {
  return text.replaceAll(/[\r\n]/g, '');
}

/** Half a character, which no path can hold, becomes the one that stands for what is wrong. */
export function escaped(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}

/** What a cursor stands for; nothing where it is none of ours. */
function openedCursor(cursor: string): object {
  try {
    return JSON.parse(Buffer.from(cursor, 'base64url').toString()) as object;
  } catch {
    return {};
  }
}

/** The same with something else for one of its parts, or as something else altogether. */
function otherPlace(place: object, random: Random): unknown {
  const names = Object.keys(place);
  if (names.length === 0 || random.chance(0.2))
    return random.pick<unknown>([[], null, 'x', {}, { o: 1, i: 2 }]);
  return { ...place, [random.pick(names)]: random.pick(PARTS_OF_PLACES) };
}
