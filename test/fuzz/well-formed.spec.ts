import { describe, expect, it } from '@jest/globals';
import type { WireRequest } from './wire.js';
import { isWellFormed } from './well-formed.js';

const HOST = ['Host', '127.0.0.1:80'] as const;
const request: WireRequest = {
  method: 'POST',
  target: '/v1/auctions?limit=1&x=%00',
  headers: [HOST, ['Authorization', 'Bearer a.b-c_d'], ['Content-Length', '2']],
  body: Buffer.from('{}'),
  isIncomplete: false,
};

function judged(differing: Partial<WireRequest>): boolean {
  return isWellFormed({ ...request, ...differing });
}

describe('a request is well-formed', () => {
  it('whatever it asks for and whoever asks', () => {
    expect(judged({})).toBe(true);
    expect(
      judged({ method: 'DELETE', target: '/nowhere/..;x', headers: [HOST], body: Buffer.alloc(0) }),
    ).toBe(true);
    expect(judged({ headers: [HOST, ['Content-Length', '9']], body: Buffer.from('\u0000 { [[ \n') })).toBe(
      false,
    );
    expect(judged({ headers: [HOST, ['Content-Length', '8']], body: Buffer.from('\u0000 { [[ \n') })).toBe(
      true,
    );
  });

  it.each<[string, Partial<WireRequest>]>([
    ['a method that there is', { method: 'BREW' }],
    ['a method in capitals', { method: 'post' }],
    ['a path', { target: '*' }],
    ['a path of characters that may stand there', { target: '/v1/a b' }],
    ['escapes that can be read', { target: '/v1/%zz' }],
    ['a host', { headers: [['Content-Length', '2']] }],
    ['one host', { headers: [...request.headers, HOST] }],
    ['a host that can be one', { headers: [['Host', 'a b'], ...request.headers.slice(1)] }],
    ['names of headers', { headers: [...request.headers, ['X Y', 'x']] }],
    ['values that print', { headers: [...request.headers, ['X', '\u0001']] }],
    ['values of plain letters', { headers: [...request.headers, ['X', 'é']] }],
    ['its own length', { body: Buffer.from('{} ') }],
    ['one length', { headers: [...request.headers, ['content-length', '2']] }],
    ['a length where there is a body', { headers: [HOST] }],
    ['no other length', { headers: [...request.headers, ['Transfer-Encoding', 'chunked']] }],
    ['headers that are not too long', { headers: [...request.headers, ['X', 'x'.repeat(20_000)]] }],
    ['headers that are not too many', { headers: [HOST, ...request.headers, ...manyHeaders()] }],
    ['its end', { isIncomplete: true }],
  ])('only with %s', (_, differing) => {
    expect(judged(differing)).toBe(false);
  });
});

function manyHeaders(): (readonly [string, string])[] {
  return Array.from({ length: 100 }, (_, index) => [`X-${index}`, 'x'] as const);
}
