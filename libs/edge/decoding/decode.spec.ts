import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { allOrNone, arrayOf, MISMATCH, object, type Decoded } from './decode.js';
import { atoms, enumOf, instant, literalTrue, positive, text, uuid } from './decode-scalars.js';

const order = object({
  required: { side: enumOf(['BUY', 'SELL']), quantity_atoms: atoms },
  optional: { all: literalTrue, legs: arrayOf(object({ required: { price: positive } }), { max: 2 }) },
});

type Order = Decoded<typeof order>;

describe('object', () => {
  it('returns its declared fields with their types', () => {
    const input: Order = { side: 'BUY', quantity_atoms: 5, legs: [{ price: 1 }] };
    expect(order.decode({ ...input })).toEqual(input);
  });

  it.each([
    ['a missing field', { side: 'BUY' }],
    ['an unknown field', { side: 'BUY', quantity_atoms: 5, account: 'x' }],
    ['an unknown field deep inside', { side: 'BUY', quantity_atoms: 5, legs: [{ price: 1, size: 1 }] }],
    ['a word outside its enumeration', { side: 'buy', quantity_atoms: 5 }],
    ['a string for atoms', { side: 'BUY', quantity_atoms: '5' }],
    ['false for a literal true', { side: 'BUY', quantity_atoms: 5, all: false }],
    ['an object for an array', { side: 'BUY', quantity_atoms: 5, legs: {} }],
    [
      'an array too long',
      { side: 'BUY', quantity_atoms: 5, legs: [{ price: 1 }, { price: 1 }, { price: 1 }] },
    ],
    ['an array in an array', { side: 'BUY', quantity_atoms: 5, legs: [[{ price: 1 }]] }],
    ['zero for a positive number', { side: 'BUY', quantity_atoms: 5, legs: [{ price: 0 }] }],
    ['an array for an object', []],
    ['text', 'BUY'],
  ])('refuses %s', (_what, value) => {
    expect(order.decode(value)).toBe(MISMATCH);
  });

  it.each(['__proto__', 'constructor', 'toString'])('treats %s as an unknown field', (name) => {
    const value: unknown = JSON.parse(`{"side":"BUY","quantity_atoms":5,"${name}":{"all":true}}`);
    expect(order.decode(value)).toBe(MISMATCH);
  });

  it('does not accept an inherited field', () => {
    expect(object({ required: { toString: text() } }).decode({})).toBe(MISMATCH);
  });

  it('describes itself in JSON Schema', () => {
    expect(order.describe()).toEqual({
      type: 'object',
      properties: {
        side: { type: 'string', enum: ['BUY', 'SELL'] },
        quantity_atoms: { type: 'integer', minimum: 0, maximum: 9007199254740991 },
        all: { const: true },
        legs: {
          type: 'array',
          items: {
            type: 'object',
            properties: { price: { type: 'integer', minimum: 1, maximum: 9007199254740991 } },
            required: ['price'],
            additionalProperties: false,
          },
          maxItems: 2,
        },
      },
      required: ['side', 'quantity_atoms'],
      additionalProperties: false,
    });
  });
});

describe('allOrNone', () => {
  const window = allOrNone({ from: atoms, to: atoms });

  it('accepts all of its fields or an empty object, and nothing else', () => {
    expect(window.decode({ from: 1, to: 2 })).toEqual({ from: 1, to: 2 });
    expect(window.decode({})).toEqual({});
    for (const value of [
      { from: 1 },
      { to: 1 },
      { from: 1, to: 2, by: 3 },
      { by: 3 },
      [],
      '',
      { from: '1', to: 2 },
    ]) {
      expect(window.decode(value)).toBe(MISMATCH);
    }
  });

  it('describes this rule in JSON Schema', () => {
    expect(window.describe()).toMatchObject({
      properties: { from: { type: 'integer' }, to: { type: 'integer' } },
      dependentRequired: { from: ['to'], to: ['from'] },
      additionalProperties: false,
    });
  });
});

describe('scalars', () => {
  it.each([0, 1, Number.MAX_SAFE_INTEGER])('%d is an amount in atoms', (value) => {
    expect(atoms.decode(value)).toBe(value);
  });

  it.each([-1, 0.5, 2 ** 53, Number.NaN, Infinity, '1', true, undefined])(
    '%p is not an amount in atoms',
    (value) => {
      expect(atoms.decode(value)).toBe(MISMATCH);
    },
  );

  it('counts characters, not UTF-16 units', () => {
    const short = text({ minLength: 1, maxLength: 2 });
    expect(short.decode('😀😀')).toBe('😀😀');
    expect(short.decode('😀😀😀')).toBe(MISMATCH);
    expect(short.decode('')).toBe(MISMATCH);
  });

  it.each(['\u0000', '\n', '\u007f', '\u0085', '\u200b', '\u202e', '\u2028', '\ue000'])(
    '%j is not printable',
    (char) => {
      expect(text({ printable: true }).decode(`a${char}`)).toBe(MISMATCH);
    },
  );

  it('accepts letters, spaces and symbols of any script as printable', () => {
    expect(text({ printable: true }).decode('Ünïcode € 漢字 😀 ~')).toBe('Ünïcode € 漢字 😀 ~');
  });

  it('accepts canonical ids only', () => {
    const id = '0f6b2f4e-3c1d-8a2b-9c3d-4e5f60718293';
    expect(uuid.decode(id)).toBe(id);
    for (const other of [
      id.toUpperCase(),
      `{${id}}`,
      id.replaceAll('-', ''),
      `${id}0`,
      ` ${id}`,
      `${id}\n`,
      id.slice(1),
    ]) {
      expect(uuid.decode(other)).toBe(MISMATCH);
    }
  });
});

describe('instant', () => {
  it.each([
    ['2026-11-20T12:00:00Z', '2026-11-20T12:00:00.000000000Z'],
    ['2026-11-20T12:00:00.5Z', '2026-11-20T12:00:00.500000000Z'],
    ['2026-11-20T12:00:00.123456789Z', '2026-11-20T12:00:00.123456789Z'],
    ['2024-02-29T23:59:59Z', '2024-02-29T23:59:59.000000000Z'],
    ['2000-02-29T00:00:00Z', '2000-02-29T00:00:00.000000000Z'],
  ])('%s is %s', (input, normal) => {
    expect(instant.decode(input)).toBe(normal);
  });

  it.each([
    '2026-11-20',
    '2026-11-20T12:00:00',
    '2026-11-20T12:00:00+00:00',
    '2026-11-20t12:00:00z',
    '2026-11-20 12:00:00Z',
    '2026-11-20T12:00Z',
    '2026-11-20T12:00:00.Z',
    '2026-11-20T12:00:00.1234567890Z',
    '2026-11-20T12:00:00,5Z',
    '2026-11-31T00:00:00Z',
    '2026-02-29T00:00:00Z',
    '1900-02-29T00:00:00Z',
    '2026-00-10T00:00:00Z',
    '2026-13-10T00:00:00Z',
    '2026-01-00T00:00:00Z',
    '2026-01-01T24:00:00Z',
    '2026-01-01T00:60:00Z',
    '2026-12-31T23:59:60Z',
    '+2026-01-01T00:00:00Z',
    ' 2026-01-01T00:00:00Z',
    '2026-01-01T00:00:00Z\n',
  ])('%j is not an instant', (input) => {
    expect(instant.decode(input)).toBe(MISMATCH);
  });

  it('accepts every day of the calendar', () => {
    fc.assert(
      fc.property(
        fc.date({ min: new Date(0), max: new Date('2100-12-31T00:00:00Z'), noInvalidDate: true }),
        (date) => {
          const iso = date.toISOString();
          expect(instant.decode(iso)).toBe(iso.replace('Z', '000000Z'));
        },
      ),
    );
  });
});
