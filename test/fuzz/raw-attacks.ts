import fc from 'fast-check';
import { WRONG_AT_THE_END } from './mutations.js';
import { forgedToken } from './tokens.js';
import { clean, withHeader, without, type WireRequest } from './wire.js';

/** What no document says of a request, because it is said below it. */
interface Attack {
  readonly weight?: number;
  readonly on: (request: WireRequest, token: string) => fc.Arbitrary<WireRequest>;
}

/** Headers that are read before it is known who asks, and how they begin. */
const BEGINNINGS = [
  ...['Host: ', 'Content-Type: application/json; charset=', 'Content-Type: ', 'Accept: application/'],
  ...['Authorization: Bearer ', 'If-None-Match: W/"', 'Idempotency-Key: ', 'X-Request-Id: ', 'Expect: '],
  ...['Content-Encoding: ', 'Origin: http://', 'Connection: ', 'Upgrade: ', 'traceparent: 00-'],
  ...['Sec-WebSocket-Protocol: authorization, Bearer.', 'Sec-WebSocket-Extensions: permessage-deflate; '],
].map((line) => line.split(': ') as [string, string]);
const LENGTHS = ['-1', '1e3', '99', '99999999999999999999', '0x10', '', '5, 6', '+5'];
const CODINGS = ['chunked', 'gzip, chunked', 'chunked, chunked', 'identity', 'xchunked', ' chunked'];
const CHUNKS = [
  ...['ffffffffffff\r\nx', '-1\r\nx\r\n', '2\r\n{}\r\n0\r\n\r\n', '0\r\n\r\n', 'zz\r\n', '1;x=y\r\n{\r\n'],
  '2\r\n{}\r\n0\r\nX-Service-Token: x\r\n\r\n',
];
const HEADERS = [
  ...[8_000, 20_000, 100_000].map((length) => ['X-Long', 'x'.repeat(length)] as const),
  ...['X Y', 'X\u0000', '', ':', 'X\r\n Y', '\u00ff', 'Host', 'X-Service-Token', 'X-Auction-Peer'].map(
    (name) => [name, 'x'] as const,
  ),
  ...['\u0000', 'a\u0007b', '\u00e9', ''].map((value) => ['X-Request-Id', value] as const),
];
const HOSTS = ['', 'a b', 'x'.repeat(300), '[::1', '\u00e9'];
const TARGETS = [
  '*',
  'http://elsewhere/v1/me',
  '//',
  '/v1//auctions',
  '/%2f..%2f',
  '\\',
  '?',
  '/v1/auctions#x',
  '/v1/a b',
];
const ENDS_OF_PATHS = [
  '/..',
  '/%2e%2e',
  '/.',
  '//',
  ';x=1',
  '%',
  '%zz',
  '%00',
  '\u00e9',
  '?x=%',
  '?x=%00',
  '?x=%ed%a0%80',
  `/${'x'.repeat(9_000)}`,
];
const METHODS = ['get', 'TRACE', 'CONNECT', 'BREW', 'G ET', ''];
/** A caller that is gone has not heard what became of the request, so none of them asks for anything to be done. */
const LEAVING = ['GET', 'GET', 'HEAD', 'OPTIONS', 'CONNECT', 'CONNECT', 'TRACE'];
const TUNNEL = 'localhost:443';

export const ATTACKS: Readonly<Record<string, Attack>> = {
  'end of a header': {
    weight: 3,
    on: (request) =>
      fc
        .tuple(fc.constantFrom(...BEGINNINGS), WRONG_AT_THE_END)
        .map(([[name, beginning], end]) => withHeader(request, name, `${beginning}${end}`)),
  },
  /** At once, within the answer, or at its first byte. Nothing may come of it. */
  'reset connection': {
    weight: 4,
    on: (request) =>
      fc
        .tuple(fc.constantFrom(...LEAVING), fc.constantFrom(-1, -1, 0, 1, 2, 4, 6))
        .map(([method, leavesAfter]) => ({
          ...request,
          method,
          target: method === 'CONNECT' ? TUNNEL : request.target,
          leavesAfter,
        })),
  },
  length: {
    on: (request) =>
      fc.constantFrom(...LENGTHS).map((length) => incomplete(withHeader(request, 'Content-Length', length))),
  },
  chunks: {
    on: (request) =>
      fc.tuple(fc.constantFrom(...CODINGS), fc.constantFrom(...CHUNKS)).map(([coding, chunks]) => ({
        ...incomplete(withHeader(request, 'Transfer-Encoding', coding)),
        body: Buffer.from(chunks),
      })),
  },
  'cut short': { on: (request) => fc.nat(400).map((sent) => ({ ...incomplete(request), sent })) },
  'pipelined garbage': {
    on: (request) =>
      fc
        .uint8Array({ minLength: 1, maxLength: 300 })
        .map((bytes) => ({ ...incomplete(request), body: Buffer.concat([request.body, bytes]) })),
  },
  'many headers': {
    on: (request) =>
      fc.constantFrom(60, 150).map((count) => ({
        ...request,
        headers: [...request.headers, ...Array.from({ length: count }, (_, at) => [`X-${at}`, 'x'] as const)],
      })),
  },
  'another header': {
    on: (request) =>
      fc.constantFrom(...HEADERS).map((header) => ({ ...request, headers: [...request.headers, header] })),
  },
  host: {
    on: (request) =>
      fc.constantFrom(without(request, 'Host'), ...HOSTS.map((host) => withHeader(request, 'Host', host))),
  },
  target: {
    on: (request) =>
      fc
        .constantFrom(...TARGETS, ...ENDS_OF_PATHS.map((end) => `${request.target}${end}`))
        .map((target) => ({ ...request, target })),
  },
  'another method': {
    on: (request) => fc.constantFrom(...METHODS).map((method) => ({ ...request, method })),
  },
};

/** As RFC 6455 asks for them. */
export const HANDSHAKE_HEADERS: readonly (readonly [string, string])[] = [
  ['Connection', 'Upgrade'],
  ['Upgrade', 'websocket'],
  ['Sec-WebSocket-Version', '13'],
  ['Sec-WebSocket-Key', 'AAAAAAAAAAAAAAAAAAAAAA=='],
];
const BROKEN_HANDSHAKES = Object.entries({
  'Sec-WebSocket-Version': ['', '8', '13, 8', '013', 'x', '13.0'],
  'Sec-WebSocket-Key': ['', 'AAAA', '='.repeat(24), 'x'.repeat(5_000)],
  'Sec-WebSocket-Extensions': [
    'permessage-deflate; client_max_window_bits=99',
    'a, a; x="',
    ';;',
    'x'.repeat(4_000),
  ],
  Upgrade: ['', 'WebSocket', 'websocket, h2c', 'h2c', 'x'],
  Connection: ['', 'close', 'keep-alive', 'Upgrade, Upgrade', 'x'],
}).flatMap(([name, values]) => values.map((value) => [name, value] as const));

export const HANDSHAKE_ATTACKS: Readonly<Record<string, Attack>> = {
  'no such header': {
    on: (request) =>
      fc
        .constantFrom('Authorization', ...HANDSHAKE_HEADERS.map(([name]) => name))
        .map((name) => without(request, name)),
  },
  'header of a handshake': {
    weight: 3,
    on: (request) =>
      fc.constantFrom(...BROKEN_HANDSHAKES).map(([name, value]) => withHeader(request, name, value)),
  },
  'token as a subprotocol': {
    weight: 3,
    on: (request, token) =>
      fc.oneof(fc.constant(token), forgedToken(token)).chain((shown) => {
        const encoded = Buffer.from(shown).toString('base64url');
        const given = [`authorization, Bearer.${encoded}`, `authorization,Bearer.${clean(shown)}`];
        return fc
          .constantFrom(
            ...given,
            'authorization, Bearer.',
            `Bearer.${encoded}, authorization`,
            'authorization',
            ',',
          )
          .map((value) => withHeader(without(request, 'Authorization'), 'Sec-WebSocket-Protocol', value));
      }),
  },
};

/** Its length may be a lie, so that waiting for more of it is right. */
function incomplete(request: WireRequest): WireRequest {
  return { ...request, isIncomplete: true };
}
