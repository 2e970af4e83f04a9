import type { Random } from '../simulator/kernel/random.js';

type Json = Record<string, unknown>;

/** Numbers at the edges of what atoms, JavaScript and PostgreSQL can hold, as JSON has them. */
const NUMBERS = [
  '0',
  '-0',
  '-1',
  '1.0',
  '1e3',
  '1E400',
  '-1e400',
  '0.1',
  '9007199254740991',
  '9007199254740992',
  '9223372036854775807',
  '9223372036854775808',
  '18446744073709551616',
  '1e-7',
  '00',
  '01',
  '+1',
  '0x10',
  '1.',
  '.5',
  'NaN',
  'Infinity',
  '2147483648',
  '9'.repeat(400),
];
const TEXTS = [
  '',
  ' ',
  '\u0000',
  '\u202e',
  '\ud800',
  'é'.normalize('NFD'),
  '𝕊',
  "'; drop table journal.records; --",
  '${7*7}',
  '../../etc/passwd',
  '%00',
  '<script>alert(1)</script>',
  '{{7*7}}',
  '\r\nX-Injected: 1',
  'null',
  'true',
  '__proto__',
  'constructor',
  'toString',
  'x'.repeat(129),
  'x'.repeat(70_000),
  '2026-02-30T00:00:00.000000000Z',
  '2026-11-20T12:00:00Z',
  '+275760-09-13T00:00:00.000Z',
];
const VALUES = ['null', 'true', 'false', '{}', '[]', '[[]]', '{"a":{}}', '"x"', '[null]'];
const DEEP = 3_000;

/** As long as most texts may be, of what may stand in them. */
export const LONG: readonly string[] = [
  ...['x', '0', 'a-', 'a.', 'x:', 'x ', 'x_', 'ab1.'].map((piece) => piece.repeat(64).slice(0, 46)),
  '3f0c8a6e-1b2c-4d5e-8f90-123456789abc',
];
export const ENDS: readonly string[] = ['!', '"', '\\', '\u00e9', '/'];
/** All is well but the last character: whoever tries all ways to read such a text never comes to an end. */
export const WRONG_AT_THEIR_END: readonly string[] = LONG.flatMap((text) =>
  [...ENDS, '\u0007'].map((end) => `${text}${end}`),
);

type Mutation = (body: Json, random: Random) => string;

/** A value of one of the fields becomes this text. */
function withField(body: Json, random: Random, text: string): string {
  const names = Object.keys(body);
  if (names.length === 0) return `{"surprise":${text}}`;
  const name = random.pick(names);
  const fields = names.map(
    (each) => `${JSON.stringify(each)}:${each === name ? text : JSON.stringify(body[each])}`,
  );
  return `{${fields.join(',')}}`;
}

/** Somewhere inside, however deep. */
function withinField(body: Json, random: Random, text: string): string {
  const nested = Object.entries(body).filter(([, value]) => typeof value === 'object' && value !== null);
  if (nested.length === 0) return withField(body, random, text);
  const [name, value] = random.pick(nested);
  const inner = Array.isArray(value) ? `[${text}]` : withField(value as Json, random, text);
  const fields = Object.entries(body).map(
    ([each, own]) => `${JSON.stringify(each)}:${each === name ? inner : JSON.stringify(own)}`,
  );
  return `{${fields.join(',')}}`;
}

const MUTATIONS: readonly Mutation[] = [
  (body, random) => withField(body, random, random.pick(NUMBERS)),
  (body, random) => withinField(body, random, random.pick(NUMBERS)),
  (body, random) => withField(body, random, JSON.stringify(random.pick(TEXTS))),
  (body, random) => withinField(body, random, JSON.stringify(random.pick(TEXTS))),
  (body, random) => withField(body, random, JSON.stringify(random.pick(WRONG_AT_THEIR_END))),
  (body, random) => withField(body, random, random.pick(VALUES)),
  (body, random) => withinField(body, random, random.pick(VALUES)),
  (body, random) => {
    const name = random.pick([...Object.keys(body), 'x']);
    return JSON.stringify(Object.fromEntries(Object.entries(body).filter(([each]) => each !== name)));
  },
  (body, random) => JSON.stringify({ ...body, [random.pick(TEXTS)]: random.pick(TEXTS) }),
  (body, random) => {
    const name = JSON.stringify(random.pick([...Object.keys(body), 'x']));
    return `${JSON.stringify(body).replace(/\}$/, '')}${Object.keys(body).length > 0 ? ',' : ''}${name}:1,${name}:1}`;
  },
  (body) => `{"__proto__":{"admin":true},${JSON.stringify(body).slice(1)}`,
  (body) => JSON.stringify([body, body]),
  (body, random) => JSON.stringify(body).slice(0, random.below(JSON.stringify(body).length + 1)),
  (body, random) => `${JSON.stringify(body)}${random.pick(['{}', ' x', ',', ']', '\u0000', '\n\n{}'])}`,
  (body) => `\ufeff${JSON.stringify(body)}`,
  () => `${'['.repeat(DEEP)}${']'.repeat(DEEP)}`,
  () => `${'{"a":'.repeat(DEEP)}1${'}'.repeat(DEEP)}`,
  (body) => `{"a":"${'x'.repeat(1_048_000)}",${JSON.stringify(body).slice(1)}`,
  (body, random) => JSON.stringify(body).replaceAll('"', random.pick(["'", '\\"', ''])),
  (body, random) => withField(body, random, `[${'1,'.repeat(20_000)}1]`),
];

/** Text that is close to the JSON of a body that would do. */
export function mutatedJson(body: unknown, random: Random): Buffer {
  const given = typeof body === 'object' && body !== null && !Array.isArray(body) ? { ...body } : {};
  const text = random.pick(MUTATIONS)(given, random);
  return random.chance(0.15) ? mutatedBytes(Buffer.from(text), random) : Buffer.from(text);
}

const EDGES = [0, 1, 2, 999, 1_000_000, 1_000_001, Number.MAX_SAFE_INTEGER];
const MOMENTS = [
  '2020-01-01T00:00:00.000000000Z',
  '2030-01-01T00:00:00.000000001Z',
  '9999-12-31T23:59:59.999999999Z',
];
const MOMENT = /^\d{4}-\d\d-\d\dT/;
const UUID = /^[\da-f]{8}-/;
/** Names may have 64 characters that can be seen. */
const AT_BOUNDS = ['x'.repeat(64), 'x'.repeat(65), '', 'a\u0007b'];

/** Behind what it begins with, or by itself. */
function wrongAtItsEnd(text: string, random: Random): string {
  return `${random.chance(0.5) ? text : ''}${random.pick(WRONG_AT_THEIR_END)}`;
}

/** A body that can be read to its end, with something else for one thing that it says: whether that is allowed is for the rules to say. */
export function otherwise(body: unknown, random: Random): unknown {
  if (Array.isArray(body)) {
    const items: readonly unknown[] = body;
    if (items.length === 0 || random.chance(0.4))
      return random.pick([[], [...items, ...items], [...items].reverse(), items.slice(1)]);
    const at = random.below(items.length);
    return items.map((item, index) => (index === at ? otherwise(item, random) : item));
  }
  if (typeof body === 'object' && body !== null) {
    const names = Object.keys(body);
    if (names.length === 0) return body;
    const name = random.pick(names);
    return { ...body, [name]: otherwise((body as Json)[name], random) };
  }
  if (typeof body === 'number') return random.pick([...EDGES, body + 1, Math.max(0, body - 1), body * 10]);
  if (typeof body === 'boolean') return !body;
  if (typeof body !== 'string') return body;
  if (MOMENT.test(body)) return random.pick(MOMENTS);
  return UUID.test(body)
    ? random.uuid()
    : random.pick([`${body}x`, body.toLowerCase(), wrongAtItsEnd(body, random), ...AT_BOUNDS]);
}

/** Bits turned, bytes lost, repeated or strange. */
export function mutatedBytes(bytes: Buffer, random: Random): Buffer {
  const mutated = Buffer.from(bytes);
  for (let times = random.between(1, 4); times > 0 && mutated.length > 0; times -= 1) {
    const at = random.below(mutated.length);
    mutated[at] = random.chance(0.5)
      ? (mutated[at] ?? 0) ^ (1 << random.below(8))
      : random.pick([0, 10, 13, 34, 127, 192, 237, 255]);
  }
  const at = random.below(mutated.length + 1);
  if (random.chance(0.2))
    return Buffer.concat([mutated.subarray(0, at), mutated.subarray(Math.max(0, at - 8))]);
  return random.chance(0.2) ? mutated.subarray(0, at) : mutated;
}

/** One character of a text that means something is another, is missing, or comes twice. */
export function mutatedText(text: string, random: Random): string {
  const at = random.below(text.length + 1);
  const strange = random.pick(['A', '0', '-', '_', '.', '=', '%', '/', '\u00e9', '~', '+', ' ']);
  return random.pick([
    `${text.slice(0, at)}${strange}${text.slice(at + 1)}`,
    text.slice(0, at),
    `${text}${strange}`,
    `${text.slice(0, at)}${text.slice(at + 1)}`,
    `${text}${text}`,
    text.toUpperCase(),
    random.pick(TEXTS),
    '',
  ]);
}
