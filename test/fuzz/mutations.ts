import fc from 'fast-check';
import { shapeOf, type Schemas, type JsonShape } from './schema-arbitrary.js';

type Path = readonly (string | number)[];

interface Place {
  readonly path: Path;
  readonly value: unknown;
  readonly shape: JsonShape;
}

/** JSON that is invalid in every field, and numbers at the limits of atoms, JavaScript and PostgreSQL. */
const TOKENS = [
  ...['0', '-0', '-1', '1.0', '1e3', '1E400', '-1e400', '0.1', '1e-7', '00', '+1', '0x10', '1.', '.5', 'NaN'],
  ...['9007199254740991', '9007199254740992', '9223372036854775808', '2147483648', '9'.repeat(400)],
  ...['null', 'true', 'false', '{}', '[]', '[[]]', '[null]', '{"a":{}}', '"x"', `[${'1,'.repeat(20_000)}1]`],
];
const TEXTS = [
  ...[
    '',
    ' ',
    '\u0000',
    'x\u0000',
    'a\u0007b',
    '\u202e',
    '\ud800',
    'e\u0301',
    '𝕊',
    'null',
    'true',
    '-1',
    '51',
  ],
  ...[
    "'; drop table journal.records; --",
    '${7*7}',
    '../../etc/passwd',
    '%00',
    '<script>',
    '\r\nX-Injected: 1',
  ],
  ...['__proto__', 'constructor', 'toString', 'x'.repeat(129), 'x'.repeat(700), 'x'.repeat(70_000)],
  ...['2026-02-30T00:00:00.000000000Z', '9999-12-31T23:59:59.999999999Z', '+275760-09-13T00:00:00.000Z'],
];
const STRANGE = ['A', '0', '-', '_', '.', '=', '%', '/', '\u00e9', '~', '+', ' ', '\u0000'];
const PIECES = ['x', '0', 'a-', 'a.', 'x:', 'x ', 'x_', 'ab1.', '3f0c8a6e-1b2c-'];
const ENDS = ['!', '"', '\\', '\u00e9', '/', '\u0007'];
const LONG = 46;
/** Made once: fast-check goes through all characters for it. */
const ANY_TEXT = fc.string({ unit: 'binary', maxLength: 20 });
const DEEP = 3_000;
const HUGE = [
  `{"a":"${'x'.repeat(1_048_000)}"}`,
  `${'['.repeat(DEEP)}${']'.repeat(DEEP)}`,
  `${'{"a":'.repeat(DEEP)}1${'}'.repeat(DEEP)}`,
];

/** Valid up to the last character: a pattern that backtracks over such a text never ends. */
export const WRONG_AT_THE_END: fc.Arbitrary<string> = fc
  .tuple(fc.constantFrom(...PIECES), fc.constantFrom(...ENDS))
  .map(([piece, end]) => `${piece.repeat(LONG).slice(0, LONG)}${end}`);

/** Replaces a text that the schema allows. */
export function mutatedText(
  good: string,
  { minLength = 1, maxLength = 64 }: JsonShape = {},
): fc.Arbitrary<string> {
  const inside = openedJson(good);
  return fc.oneof(
    fc.constantFrom(...TEXTS),
    WRONG_AT_THE_END,
    WRONG_AT_THE_END.map((text) => `${good}${text}`),
    fc.constantFrom(minLength - 1, maxLength, maxLength + 1).map((length) => 'x'.repeat(length)),
    ANY_TEXT,
    // PostgreSQL cannot store this character.
    { weight: 3, arbitrary: fc.constantFrom('\u0000', `${good}\u0000`, `\u0000${good}`, `${good}\u0000x`) },
    fc.constantFrom(good.toUpperCase(), `${good}${good}`, `${good}x`, good.slice(1), good.slice(0, -1)),
    fc
      .tuple(fc.nat(good.length), fc.constantFrom(...STRANGE))
      .map(([at, strange]) => `${good.slice(0, at)}${strange}${good.slice(at + 1)}`),
    ...(inside === undefined
      ? [fc.uuid()]
      : [4, 4].map(() => mutatedJson(inside).map((json) => json.toString('base64url').slice(0, 2_000)))),
  );
}

/** The same JSON with one change, or no longer JSON. */
export function mutatedJson(
  good: unknown,
  schema: JsonShape = {},
  schemas: Schemas = {},
): fc.Arbitrary<Buffer> {
  const text = JSON.stringify(good);
  const inside = fc
    .constantFrom(...placesIn(good, schema, schemas))
    .chain((place) => replacement(place).map((other) => textWith(good, place.path, other)));
  const whole = fc.oneof(
    fc.nat(text.length).map((end) => text.slice(0, end)),
    fc.constantFrom('{}', ' x', ',', ']', '\u0000', '\n\n{}').map((end) => `${text}${end}`),
    fc.constantFrom("'", '\\"', '').map((quote) => text.replaceAll('"', quote)),
    fc.constantFrom(`\ufeff${text}`, `[${text},${text}]`, ...HUGE),
  );
  return fc.oneof(
    { weight: 12, arbitrary: inside.map((other) => Buffer.from(other)) },
    { weight: 2, arbitrary: whole.map((other) => Buffer.from(other)) },
    { weight: 1, arbitrary: mutatedBytes(Buffer.from(text)) },
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 400 }).map((bytes) => Buffer.from(bytes)) },
  );
}

/** Changes up to four bytes. */
export function mutatedBytes(good: Buffer): fc.Arbitrary<Buffer> {
  const others = fc.array(fc.tuple(fc.nat(Math.max(0, good.length - 1)), fc.nat(255)), {
    minLength: 1,
    maxLength: 4,
  });
  return others.map((changes) => {
    const bytes = Buffer.from(good);
    for (const [at, byte] of changes) if (at < bytes.length) bytes[at] = byte;
    return bytes;
  });
}

function replacement({ value, shape }: Place): fc.Arbitrary<string> {
  return fc.oneof(
    { weight: 1, arbitrary: fc.constantFrom(...TOKENS) },
    { weight: 3, arbitrary: near(value, shape) },
  );
}

/** A parameter's text that differs from one that the schema allows. */
export function nearValue(value: unknown, schema: JsonShape): fc.Arbitrary<string> {
  return typeof value === 'string' ? mutatedText(value, schema) : near(value, schema);
}

/** Of the same type, so that rules are tested and not only the shape. */
function near(value: unknown, shape: JsonShape): fc.Arbitrary<string> {
  if (typeof value === 'string') {
    const others = (shape.enum ?? []).map((other) => fc.constant(JSON.stringify(other)));
    return fc.oneof(mutatedText(value, shape).map(jsonOf), ...others);
  }
  if (typeof value === 'number') {
    const { minimum = 0, maximum = Number.MAX_SAFE_INTEGER } = shape;
    const edges = [minimum - 1, minimum, minimum + 1, maximum - 1, maximum, value - 1, value + 1, value * 10];
    return fc.constantFrom(...edges, 999, 1_000, 1_000_001).map(String);
  }
  if (Array.isArray(value)) {
    const items: readonly unknown[] = value;
    const others = [[], [...items, ...items], [...items].reverse(), items.slice(1), [...items, null]];
    return fc.constantFrom(...others).map(jsonOf);
  }
  if (typeof value === 'object' && value !== null) return nearObject(Object.entries(value));
  return fc.constantFrom('true', 'false');
}

/** A key is missing, unknown or duplicated. */
function nearObject(fields: readonly (readonly [string, unknown])[]): fc.Arbitrary<string> {
  const texts = fields.map(([name, value]) => `${jsonOf(name)}:${jsonOf(value)}`);
  const without = texts.map((_, left) => texts.filter((__, index) => index !== left));
  const twice = fields.map(([name]) => [...texts, `${jsonOf(name)}:1`]);
  const added = fc.constantFrom(...TEXTS).map((name) => [...texts, `${jsonOf(name)}:"x"`]);
  const objects = fc.constantFrom(...without, ...twice, ['"__proto__":{"admin":true}', ...texts]);
  return fc
    .oneof({ weight: 3, arbitrary: objects }, { weight: 1, arbitrary: added })
    .map((all) => `{${all.join()}}`);
}

function placesIn(value: unknown, schema: JsonShape, schemas: Schemas, path: Path = []): Place[] {
  const shape = shapeOf({ ...schema }, schemas);
  const here = { path, value, shape };
  if (typeof value !== 'object' || value === null) return [here];
  const parts = Object.entries(value).flatMap(([name, part]) => {
    const inner = Array.isArray(value) ? shape.items : shape.properties?.[name];
    return placesIn(part, inner ?? {}, schemas, [...path, Array.isArray(value) ? Number(name) : name]);
  });
  return [here, ...parts];
}

function textWith(value: unknown, [step, ...rest]: Path, text: string): string {
  if (step === undefined) return text;
  if (Array.isArray(value))
    return `[${value.map((item, index) => (index === step ? textWith(item, rest, text) : jsonOf(item))).join()}]`;
  const fields = Object.entries(value ?? {}).map(
    ([name, part]) => `${jsonOf(name)}:${name === step ? textWith(part, rest, text) : jsonOf(part)}`,
  );
  return `{${fields.join()}}`;
}

function jsonOf(value: unknown): string {
  return JSON.stringify(value);
}

/** The object in a text that is JSON in base64, as cursors are. */
function openedJson(text: string): object | undefined {
  try {
    const opened: unknown = JSON.parse(Buffer.from(text, 'base64url').toString());
    return typeof opened === 'object' && opened !== null ? opened : undefined;
  } catch {
    return undefined;
  }
}
