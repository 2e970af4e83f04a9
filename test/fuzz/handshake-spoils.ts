import type { Random } from '../simulator/kernel/random.js';
import { hostileToken } from './hostile-tokens.js';
import { clean, setHeader, SPOILS, type Spoil } from './request-spoils.js';

/** As RFC 6455 asks for them. */
export function handshakeHeaders(random: Random): [string, string][] {
  return [
    ['Connection', 'Upgrade'],
    ['Upgrade', 'websocket'],
    ['Sec-WebSocket-Version', '13'],
    ['Sec-WebSocket-Key', random.bytes(16).toString('base64')],
  ];
}

function without(name: string): Spoil {
  return (draft) => (draft.headers = draft.headers.filter(([each]) => each !== name));
}

function one(name: string, values: readonly string[]): Spoil {
  return (draft, { random }) => setHeader(draft, name, random.pick(values));
}

/** What may be wrong with a handshake and with no other request. */
export const HANDSHAKE_SPOILS: Readonly<Record<string, Spoil>> = {
  'no version': without('Sec-WebSocket-Version'),
  version: one('Sec-WebSocket-Version', ['', '8', '13, 8', '013', 'x', '13.0']),
  'no key of its own': without('Sec-WebSocket-Key'),
  'key of its own': one('Sec-WebSocket-Key', ['', 'AAAA', '='.repeat(24), 'x'.repeat(5_000)]),
  'no upgrade': without('Upgrade'),
  upgrade: one('Upgrade', ['', 'WebSocket', 'websocket, h2c', 'h2c', 'x']),
  connection: one('Connection', ['', 'close', 'keep-alive', 'Upgrade, Upgrade', 'x']),
  extensions: one('Sec-WebSocket-Extensions', [
    'permessage-deflate; client_max_window_bits=99',
    'permessage-deflate, permessage-deflate; x="',
    ';;',
    'x'.repeat(4_000),
  ]),
  protocol: (draft, { token, random }) => {
    const shown = random.chance(0.3) ? token : clean(hostileToken(token, random));
    const encoded = Buffer.from(shown, 'latin1').toString('base64url');
    draft.headers = draft.headers.filter(([name]) => name !== 'Authorization' || random.chance(0.3));
    const values = [
      `authorization, Bearer.${encoded}`,
      `authorization,Bearer.${shown}`,
      `authorization, Bearer.`,
      `Bearer.${encoded}, authorization`,
      'authorization',
      ',',
      '',
    ];
    setHeader(draft, 'Sec-WebSocket-Protocol', random.pick(values));
  },
  'no token': without('Authorization'),
  'bytes behind it': (draft, { random }) => (draft.body = random.bytes(random.between(1, 300))),
};

const FIT_FOR_HANDSHAKES: ReadonlySet<string> = new Set([
  'token',
  'scheme',
  'path',
  'query',
  'method',
  'request id',
  'many headers',
  'long header',
  'broken header',
  'host',
  'target',
]);

/** Of what may be wrong with any request that which may be with a handshake. */
export const OF_HANDSHAKES: Readonly<Record<string, Spoil>> = Object.fromEntries(
  Object.entries(SPOILS).filter(([name]) => FIT_FOR_HANDSHAKES.has(name)),
);
