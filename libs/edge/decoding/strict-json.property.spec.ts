import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { NumberToken } from './json-scan.js';
import { parseJson, parseStrictBytes, parseStrictText, STRICT_JSON } from './strict-json.js';

const RUNS = { numRuns: 2_000 };
const wellFormed = fc.string({ unit: 'binary', maxLength: 12 });
const key = fc.oneof(wellFormed, fc.constantFrom('__proto__', 'a', 'constructor', ''));

const { object } = fc.letrec((tie) => ({
  object: fc.dictionary(key, tie('value'), { maxKeys: 6, noNullPrototype: true }),
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    wellFormed,
    fc.boolean(),
    fc.maxSafeNat(),
    fc.array(tie('value'), { maxLength: 5 }),
    tie('object'),
  ),
}));

/** Pieces of JSON, so that most generated texts are nearly valid. */
const PIECES = [
  '{',
  '}',
  '[',
  ']',
  ':',
  ',',
  '"',
  '\\',
  '\\u0061',
  '0',
  '1',
  'e',
  '.',
  '-',
  ' ',
  '\n',
  'n',
  'a',
  '"a":',
  '{"a":1}',
  'true',
  'null',
];
const nearlyValid = fc.oneof(
  fc
    .array(fc.constantFrom(...PIECES), {
      maxLength: 14,
    })
    .map((parts) => parts.join('')),
  fc.tuple(object, fc.nat(), fc.constantFrom(...PIECES)).map(([value, at, char]) => {
    const json = JSON.stringify(value);
    const cut = at % (json.length + 1);
    return json.slice(0, cut) + char + json.slice(cut + (at % 2));
  }),
);

function parsedBy(json: string): { value: unknown } | undefined {
  try {
    return { value: JSON.parse(json) as unknown };
  } catch {
    return undefined;
  }
}

/** Replaces number tokens by numbers, as JSON.parse reads them. */
function withNumbers(value: unknown): unknown {
  if (value instanceof NumberToken) return Number(value.text);
  if (Array.isArray(value)) return value.map(withNumbers);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, withNumbers(inner)]));
}

describe('strict JSON, for any document', () => {
  it('reads back the output of JSON.stringify', () => {
    fc.assert(
      fc.property(object, fc.constantFrom(0, 2), (value, indent) => {
        const json = JSON.stringify(value, undefined, indent);
        const parsed = parseStrictBytes(Buffer.from(json, 'utf8'));
        expect(parsed).toEqual({ ok: true, value: parsedBy(json)?.value });
      }),
      RUNS,
    );
  });

  it('accepts nothing that JSON.parse refuses, and reads the same value', () => {
    let accepted = 0;
    let refused = 0;
    fc.assert(
      fc.property(nearlyValid, (json) => {
        fc.pre(json.isWellFormed());
        const parsed = parseJson(Buffer.from(json), { ...STRICT_JSON, numbers: 'raw' });
        const expected = parsedBy(json);
        if (parsed.ok) {
          accepted += 1;
          expect(expected).toEqual({ value: withNumbers(parsed.value) });
        } else if (expected === undefined) refused += 1;
      }),
      { numRuns: 10_000 },
    );
    expect(accepted).toBeGreaterThan(100);
    expect(refused).toBeGreaterThan(100);
  });

  it('reports trailing data exactly if the first value is valid', () => {
    fc.assert(
      fc.property(object, fc.stringMatching(/^[ \t\r\n]{0,3}[^ \t\r\n]/), (value, rest) => {
        const parsed = parseStrictText(JSON.stringify(value) + rest.toWellFormed());
        expect(parsed).toEqual({ ok: false, fault: 'trailing-data' });
      }),
      RUNS,
    );
  });

  it('refuses a repeated key, also if it is escaped', () => {
    const escaped = (text: string): string =>
      `"${Array.from({ length: text.length }, (_, at) => `\\u${text.charCodeAt(at).toString(16).padStart(4, '0')}`).join('')}"`;
    fc.assert(
      fc.property(wellFormed, object, fc.boolean(), (name, value, first) => {
        const pair = [`${JSON.stringify(name)}:1`, `${escaped(name)}:${JSON.stringify(value)}`];
        const json = `{${(first ? pair : pair.toReversed()).join(',')}}`;
        expect(parseStrictText(json)).toEqual({ ok: false, fault: 'invalid-json' });
      }),
      RUNS,
    );
  });
});
