import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { MISMATCH, object } from './decode.js';
import { enumOf, instant, uuid } from './decode-scalars.js';
import { cursor, integerParam, optionalParam, query } from './query.js';

const position = cursor(object({ required: { o: instant, i: uuid } }));
const list = query('invalid_list_page', {
  limit: integerParam(1, 50, 50),
  cursor: position.param,
  status: optionalParam(enumOf(['ACTIVE', 'EXPIRED'])),
});
const keys = { o: '2026-11-20T12:00:00.123456789Z', i: '0f6b2f4e-3c1d-8a2b-9c3d-4e5f60718293' };
const base64url = (text: string): string => Buffer.from(text, 'utf8').toString('base64url');

describe('query', () => {
  it.each([
    ['', 50],
    ['limit=1', 1],
    ['limit=50', 50],
    ['limit=%35', 5],
    ['%6cimit=5', 5],
  ])('%j has a limit of %d', (raw, limit) => {
    expect(list.read(raw)).toEqual({ limit, cursor: undefined, status: undefined });
  });

  it.each([
    'limit=0',
    'limit=51',
    'limit=-1',
    'limit=+5',
    'limit=05',
    'limit=5.0',
    'limit=5e0',
    'limit=0x5',
    'limit= 5',
    'limit=5%20',
    'limit=%EF%BC%95',
    'limit=99999999999999999999',
    'limit=',
    'limit',
    '=5',
    '&',
    'limit=5&',
    '&limit=5',
    'limit=5&limit=5',
    'limit=5&%6cimit=5',
    'LIMIT=5',
    'offset=5',
    'limit=5&x=1',
    'limit[]=5',
    '__proto__=1',
    'limit=%',
    'limit=%zz',
    'limit=%C3',
    'limit=5;cursor=x',
    'cursor=',
    'status=active',
    '?limit=5',
  ])('%j cannot be read', (raw) => {
    expect(list.read(raw)).toBe(MISMATCH);
  });
});

describe('cursor', () => {
  const read = (text: string): unknown => {
    const values = list.read(`cursor=${text}`);
    return values === MISMATCH ? MISMATCH : values.cursor;
  };

  it('is decoded to the same position', () => {
    expect(read(position.encode(keys))).toEqual(keys);
  });

  it.each([
    ['padding', `${base64url(JSON.stringify({ ...keys, o: `${keys.o.slice(0, -3)}Z` }))}=`],
    ['the other alphabet', 'ey+/'],
    ['a stray character', `${position.encode(keys)}!`],
    ['no open time', base64url(JSON.stringify({ i: keys.i }))],
    ['no id', base64url(JSON.stringify({ o: keys.o }))],
    ['an extra key', base64url(JSON.stringify({ ...keys, x: 1 }))],
    ['a repeated key', base64url(`{"o":"${keys.o}","o":"${keys.o}","i":"${keys.i}"}`)],
    ['a bad time', base64url(JSON.stringify({ ...keys, o: 'yesterday' }))],
    ['an id in upper case', base64url(JSON.stringify({ ...keys, i: keys.i.toUpperCase() }))],
    ['null', base64url(JSON.stringify({ o: null, i: keys.i }))],
    ['no object', base64url('[]')],
    ['no JSON', base64url('hello')],
    ['invalid UTF-8', Buffer.from([0xff, 0xfe]).toString('base64url')],
    [
      'more than 256 bytes',
      base64url(`${' '.repeat(257 - JSON.stringify(keys).length)}${JSON.stringify(keys)}`),
    ],
    ['more than 512 characters', 'A'.repeat(513)],
  ])('with %s is refused', (_what, text) => {
    expect(read(text)).toBe(MISMATCH);
  });

  it('may be 256 bytes long', () => {
    const json = JSON.stringify(keys);
    expect(read(base64url(`${' '.repeat(256 - json.length)}${json}`))).toEqual(keys);
  });

  it('has one encoding: changing any character changes the position or is refused', () => {
    const encoded = position.encode(keys);
    fc.assert(
      fc.property(
        fc.nat(encoded.length - 1),
        fc.constantFrom('A', 'Q', 'g', 'w', '-', '_', '0', '9', 'z'),
        (index, char) => {
          fc.pre(encoded[index] !== char);
          expect(read(encoded.slice(0, index) + char + encoded.slice(index + 1))).not.toEqual(keys);
        },
      ),
    );
  });
});
