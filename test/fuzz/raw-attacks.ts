import fc from 'fast-check';
import { WRONG_AT_THE_END } from './mutations.js';
import { clean, withHeader, without, type WireRequest } from './wire.js';

/** Attacks below the level that the documents describe. */
export type Attack = fc.Arbitrary<(request: WireRequest, token: string) => WireRequest>;

/** Headers that are read before authentication, and how they begin. */
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
const BROKEN = ['X Y', 'X\u0000', '', ':', 'X\r\n Y', '\u00ff', 'Host', 'X-Service-Token', 'X-Auction-Peer'];
const HEADERS: readonly (readonly [string, string])[] = [
  ...[8_000, 20_000, 100_000].map((length) => ['X-Long', 'x'.repeat(length)] as const),
  ...BROKEN.map((name) => [name, 'x'] as const),
  ...['\u0000', 'a\u0007b', '\u00e9', ''].map((value) => ['X-Request-Id', value] as const),
];
const HOSTS = ['', 'a b', 'x'.repeat(300), '[::1', '\u00e9'];
const TARGETS = [
  ...[
    '*',
    'http://elsewhere/v1/me',
    '//',
    '/v1//auctions',
    '/%2f..%2f',
    '\\',
    '?',
    '/v1/auctions#x',
    '/v1/a b',
  ],
];
const ENDS_OF_PATHS = [
  ...['/..', '/%2e%2e', '/.', '//', ';x=1', '%', '%zz', '%00', '\u00e9', '?x=%', '?x=%00', '?x=%ed%a0%80'],
  `/${'x'.repeat(9_000)}`,
];
const METHODS = ['get', 'TRACE', 'CONNECT', 'BREW', 'G ET', ''];
/** A caller that disconnects does not learn the result, so these requests change nothing. */
const LEAVING = ['GET', 'GET', 'HEAD', 'OPTIONS', 'CONNECT', 'CONNECT', 'TRACE'];
const TUNNEL = 'localhost:443';

const changed = (changes: readonly Partial<WireRequest>[]): Attack =>
  fc.constantFrom(...changes).map((change) => (request) => ({ ...request, ...change }));
const headed = (headers: readonly (readonly [string, string])[]): Attack =>
  fc.constantFrom(...headers).map((header) => (request) => withHeader(request, ...header));
const bare = (names: readonly string[]): Attack =>
  fc.constantFrom(...names).map((name) => (request) => without(request, name));

export const ATTACKS: Readonly<Record<string, Attack>> = {
  'end of a header': fc.tuple(fc.constantFrom(...BEGINNINGS), WRONG_AT_THE_END).map(
    ([[name, beginning], end]) =>
      (request) =>
        withHeader(request, name, `${beginning}${end}`),
  ),
  // At once, within the answer, or at its first byte. It must have no effect.
  'reset connection': fc
    .tuple(fc.constantFrom(...LEAVING), fc.constantFrom(-1, -1, 0, 1, 2, 4, 6))
    .map(([method, leavesAfter]) => (request) => {
      const target = method === 'CONNECT' ? TUNNEL : request.target;
      return { ...request, method, target, leavesAfter };
    }),
  // A server may wait for a request with a wrong length.
  length: headed(LENGTHS.map((length) => ['Content-Length', length])).map((attack) => (request, token) => ({
    ...attack(request, token),
    isIncomplete: true,
  })),
  chunks: fc
    .tuple(fc.constantFrom(...CODINGS), fc.constantFrom(...CHUNKS))
    .map(([coding, chunks]) => (request) => {
      const body = Buffer.from(chunks);
      return { ...withHeader(request, 'Transfer-Encoding', coding), body, isIncomplete: true };
    }),
  'cut short': fc.nat(400).map((sent) => (request) => ({ ...request, sent, isIncomplete: true })),
  'pipelined garbage': fc.uint8Array({ minLength: 1, maxLength: 300 }).map((bytes) => (request) => {
    return { ...request, body: Buffer.concat([request.body, bytes]), isIncomplete: true };
  }),
  'many headers': fc.constantFrom(60, 150).map((count) => (request) => {
    const more = Array.from({ length: count }, (_, at) => [`X-${at}`, 'x'] as const);
    return { ...request, headers: [...request.headers, ...more] };
  }),
  'another header': fc.constantFrom(...HEADERS).map((header) => (request) => {
    return { ...request, headers: [...request.headers, header] };
  }),
  host: headed(HOSTS.map((host) => ['Host', host])),
  'no host': bare(['Host']),
  target: changed(TARGETS.map((target) => ({ target }))),
  'end of a path': fc.constantFrom(...ENDS_OF_PATHS).map((end) => (request) => {
    return { ...request, target: `${request.target}${end}` };
  }),
  'another method': changed(METHODS.map((method) => ({ method }))),
};
/** Attacks with many variants, or with a moment to hit. */
export const MANY: ReadonlySet<string> = new Set(['end of a header', 'reset connection']);

/** As RFC 6455 requires. */
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
const SHOWN: readonly ((token: string, encoded: string) => string)[] = [
  (_, encoded) => `authorization, Bearer.${encoded}`,
  (_, encoded) => `authorization, Bearer.${encoded.slice(0, -9)}`,
  (_, encoded) => `Bearer.${encoded}, authorization`,
  (token) => `authorization,Bearer.${token}`,
  (token) => `authorization,Bearer.${token.slice(9)}`,
  ...['authorization, Bearer.', 'authorization, Bearer.eA', 'authorization', ','].map((text) => () => text),
];

export const HANDSHAKE_ATTACKS: Readonly<Record<string, Attack>> = {
  'no such header': bare(['Authorization', ...HANDSHAKE_HEADERS.map(([name]) => name)]),
  'header of a handshake': headed(BROKEN_HANDSHAKES),
  'token as a subprotocol': fc.constantFrom(...SHOWN).map((shown) => (request, token) => {
    const value = clean(shown(token, Buffer.from(token).toString('base64url')));
    return withHeader(without(request, 'Authorization'), 'Sec-WebSocket-Protocol', value);
  }),
};
