import { type Decimal, parseDecimal, printDecimal } from '#libs/base/decimals.js';
import { type Decoder, type JsonSchema, MISMATCH } from './decode.js';
import { normalInstant } from './instant-text.js';
import { NumberToken } from './json-scan.js';
import type { IdKind } from '../endpoint.js';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const UUID_CHARS = 36;
/** Control, format, private and unassigned characters, lone surrogates, and line and paragraph separators. */
const UNPRINTABLE = /[\p{C}\p{Zl}\p{Zp}]/u;

export function isUuid(text: string): boolean {
  return text.length === UUID_CHARS && UUID.test(text);
}

export function integer(min: number, max: number = Number.MAX_SAFE_INTEGER): Decoder<number> {
  return {
    decode(value) {
      const number = value instanceof NumberToken ? integerIn(value) : value;
      if (typeof number !== 'number' || !Number.isSafeInteger(number)) return MISMATCH;
      return number >= min && number <= max ? number : MISMATCH;
    },
    describe: () => ({ type: 'integer', minimum: min, maximum: max }),
  };
}

/** Spellings do not matter: `1e1` and `10.0` are the integer 10. */
function integerIn({ text }: NumberToken): number | undefined {
  const exact = parseDecimal(text, 0);
  return exact === undefined ? undefined : Number(exact.units);
}

/** An exact decimal number with at most `places` decimals. Needs a dialect that keeps raw numbers. */
export function decimal(places: number): Decoder<Decimal> {
  const step = printDecimal({ units: 1n, scale: places });
  return {
    decode: (value) =>
      value instanceof NumberToken ? (parseDecimal(value.text, places) ?? MISMATCH) : MISMATCH,
    describe: () => ({ type: 'number', multipleOf: Number(step) }),
  };
}

/** 0 to 2^53-1. */
export const atoms: Decoder<number> = integer(0);
/** 1 to 2^53-1. */
export const positive: Decoder<number> = integer(1);

export interface TextRules {
  /** Must be anchored and must not backtrack. */
  readonly pattern?: RegExp;
  readonly minLength?: number;
  /** In characters, not in UTF-16 units. */
  readonly maxLength?: number;
  readonly printable?: boolean;
}

export function text(rules: TextRules = {}): Decoder<string> {
  return {
    decode: (value) => (typeof value === 'string' && isWithin(value, rules) ? value : MISMATCH),
    describe: () => ({
      type: 'string',
      ...(rules.pattern === undefined ? {} : { pattern: rules.pattern.source }),
      ...(rules.minLength === undefined ? {} : { minLength: rules.minLength }),
      ...(rules.maxLength === undefined ? {} : { maxLength: rules.maxLength }),
    }),
  };
}

function isWithin(value: string, rules: TextRules): boolean {
  if (rules.minLength !== undefined && characters(value) < rules.minLength) return false;
  if (rules.maxLength !== undefined && characters(value) > rules.maxLength) return false;
  if (rules.printable === true && UNPRINTABLE.test(value)) return false;
  return rules.pattern === undefined || rules.pattern.test(value);
}

export function characters(value: string): number {
  let count = value.length;
  for (let at = 0; at < value.length; at += 1) {
    const unit = value.charCodeAt(at);
    if (unit >= 0xd800 && unit <= 0xdbff) count -= 1;
  }
  return count;
}

export function enumOf<const W extends string>(words: readonly W[]): Decoder<W> {
  return {
    decode: (value) => words.find((word) => word === value) ?? MISMATCH,
    describe: () => ({ type: 'string', enum: words }),
  };
}

/** The canonical form, in lower case with hyphens. Any version. */
export const uuid: Decoder<string> = {
  decode: (value) => (typeof value === 'string' && isUuid(value) ? value : MISMATCH),
  describe: () => ({ type: 'string', format: 'uuid', pattern: UUID.source }),
};

/** RFC 3339 in UTC with up to nine fraction digits. The result always has nine. */
export const instant: Decoder<string> = {
  decode: (value) => (typeof value === 'string' ? (normalInstant(value) ?? MISMATCH) : MISMATCH),
  describe: () => ({ type: 'string', format: 'date-time' }),
};

/** A field that may be absent or `true`. */
export const literalTrue: Decoder<true> = {
  decode: (value) => (value === true ? true : MISMATCH),
  describe: (): JsonSchema => ({ const: true }),
};

export function anyUuid(fault: string): IdKind {
  return { fault, accepts: isUuid, describe: () => uuid.describe() };
}
