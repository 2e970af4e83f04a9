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
