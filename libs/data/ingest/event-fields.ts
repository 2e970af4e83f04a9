import { characters } from '#libs/edge/decoding/decode-scalars.js';
import { MISMATCH, type Decoder, type JsonSchema, type Mismatch } from '#libs/edge/decoding/decode.js';
import { NumberToken } from '#libs/edge/decoding/json-scan.js';
import type { JsonMembers } from '../rules/events.js';
import { PROVIDERS, providerOf, type Provider } from '../rules/providers.js';
import { decimalText, FULL_PRICE, microsOfDecimal } from '../rules/scales.js';
import { isoTime, microsOfTime } from '../rules/times.js';
import { canonicalWallet } from '../rules/wallets.js';

const LONGEST_ID = 128;
/** PostgreSQL cannot store a text that contains it. */
const NUL = '\0';
const LARGEST_NUMBER = 2n ** 63n - 1n;

function field<T>(decode: (value: unknown) => T | Mismatch, schema: JsonSchema): Decoder<T> {
  return { decode, describe: () => schema };
}

export const words: Decoder<string> = field(
  (value) => (typeof value === 'string' && !value.includes(NUL) ? value : MISMATCH),
  { type: 'string' },
);

export const name: Decoder<string> = field((value) => (value === '' ? MISMATCH : words.decode(value)), {
  type: 'string',
  minLength: 1,
});

export const id: Decoder<string> = field(
  (value) => {
    const text = name.decode(value);
    return text === MISMATCH || characters(text) > LONGEST_ID ? MISMATCH : text;
  },
  { type: 'string', minLength: 1, maxLength: LONGEST_ID },
);

export const provider: Decoder<Provider> = field(
  (value) => (typeof value === 'string' ? (providerOf(value) ?? MISMATCH) : MISMATCH),
  { enum: PROVIDERS },
);

export const wallet: Decoder<string> = field((value) => {
  const text = id.decode(value);
  return text === MISMATCH ? MISMATCH : canonicalWallet(text);
}, id.describe());

export const flag: Decoder<boolean> = field((value) => (typeof value === 'boolean' ? value : MISMATCH), {
  type: 'boolean',
});

export const time: Decoder<number> = field(
  (value) => (typeof value === 'string' ? (microsOfTime(value, 'required') ?? MISMATCH) : MISMATCH),
  { type: 'string', format: 'date-time' },
);

/** The text of a number, or a string with a number, so that nothing is rounded. */
function tokenOf(value: unknown): string | undefined {
  if (value instanceof NumberToken) return value.text;
  return typeof value === 'string' ? value : undefined;
}

const DECIMAL: JsonSchema = { type: ['string', 'number'] };

/** In millionths. */
const micros: Decoder<bigint> = field((value) => {
  const token = tokenOf(value);
  return token === undefined ? MISMATCH : (microsOfDecimal(token) ?? MISMATCH);
}, DECIMAL);

function microsFrom(least: bigint): Decoder<bigint> {
  return field((value) => {
    const number = micros.decode(value);
    return number === MISMATCH || number < least ? MISMATCH : number;
  }, DECIMAL);
}

export const cash: Decoder<bigint> = micros;
/** The size of a book level; 0 removes the level. */
export const sizeOrNone: Decoder<bigint> = microsFrom(0n);
export const size: Decoder<bigint> = microsFrom(1n);

export const price: Decoder<number> = field((value) => {
  const number = sizeOrNone.decode(value);
  return number === MISMATCH || number > BigInt(FULL_PRICE) ? MISMATCH : Number(number);
}, DECIMAL);

/** A price of any size, as the shortest decimal text. */
export const quote: Decoder<string> = field((value) => {
  const number = micros.decode(value);
  return number === MISMATCH ? MISMATCH : decimalText(number);
}, DECIMAL);

const PLAIN_RATE = /^-?(?:0|[1-9]\d{0,11})(?:\.\d{1,12})?$/;

/** A rate, which may have more decimals than prices, sizes and money. */
export const rate: Decoder<string> = field((value) => {
  const token = tokenOf(value);
  return token !== undefined && PLAIN_RATE.test(token) ? token : MISMATCH;
}, DECIMAL);

export const timeText: Decoder<string> = field((value) => {
  const moment = time.decode(value);
  return moment === MISMATCH ? MISMATCH : isoTime(moment);
}, time.describe());

const DIGITS = /^\d{1,19}$/;

/** The sequence number of a market's or book's event: whole, and within the range of the column. */
export const sequence: Decoder<bigint> = field(
  (value) => {
    const token = tokenOf(value);
    if (token === undefined || !DIGITS.test(token)) return MISMATCH;
    const number = BigInt(token);
    return number <= LARGEST_NUMBER ? number : MISMATCH;
  },
  { type: ['integer', 'string'] },
);

/** `[[price, size]]` */
export const level: Decoder<{ readonly price: number; readonly size: bigint }> = field(
  (value) => {
    if (!Array.isArray(value) || value.length !== 2) return MISMATCH;
    const at = price.decode(value[0]);
    const quantity = sizeOrNone.decode(value[1]);
    return at === MISMATCH || quantity === MISMATCH ? MISMATCH : { price: at, size: quantity };
  },
  { type: 'array', minItems: 2, maxItems: 2 },
);

/** Any JSON value. Numbers become ordinary JSON numbers. */
export const anything: Decoder<unknown> = field(plain, {});

export const anyObject: Decoder<JsonMembers> = field(
  (value) => {
    const object = plain(value);
    return isObject(object) ? object : MISMATCH;
  },
  { type: 'object' },
);

/** Validates a value, but keeps it as it came. */
export function kept(decoder: Decoder<unknown>): Decoder<unknown> {
  return field((value) => (decoder.decode(value) === MISMATCH ? MISMATCH : plain(value)), decoder.describe());
}

function isObject(value: unknown): value is JsonMembers {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function plain(value: unknown): unknown {
  if (value instanceof NumberToken) {
    const number = Number(value.text);
    return Number.isFinite(number) ? number : MISMATCH;
  }
  if (typeof value === 'string') return words.decode(value);
  if (Array.isArray(value)) {
    const items = value.map(plain);
    return items.includes(MISMATCH) ? MISMATCH : items;
  }
  if (!isObject(value)) return value;
  const members = Object.entries(value).map(([key, member]) => [words.decode(key), plain(member)] as const);
  if (members.some(([key, member]) => key === MISMATCH || member === MISMATCH)) return MISMATCH;
  return Object.fromEntries(members);
}
