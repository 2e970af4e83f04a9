import { type Decoder, MISMATCH, type Mismatch } from '#libs/edge/decoding/decode.js';
import { integer } from '#libs/edge/decoding/decode-scalars.js';
import { NumberToken } from '#libs/edge/decoding/json-scan.js';
import type { Reading } from '#libs/edge/decoding/reading.js';
import type { JsonRecord } from '#libs/edge/decoding/strict-json.js';
import { providerOf, PROVIDERS, REGISTERED, type Provider } from '../rules/providers.js';
import { unknownProvider } from './refusals.js';
import { lengthProblem, rangeProblem, type ProviderRules, type TextProblem } from './text-kinds.js';

const LONGEST_ID = 128;

/** Text in a body. These decoders say what is wrong; the edge adds where it is. */
export function bodyText(min: number, max: number): Decoder<string> {
  return {
    decode(value, reading) {
      if (typeof value !== 'string') return wrong(reading, value, 'string_type', 'It must be text');
      return refusedBy(lengthProblem(value, min, max), value, reading) ?? value;
    },
    describe: () => ({ type: 'string', minLength: min, maxLength: max }),
  };
}

export const bodyId: Decoder<string> = bodyText(1, LONGEST_ID);

/** Refuses numbers that are sent as text, and fractions. */
export function bodyInteger(min: number, max: number = Number.MAX_SAFE_INTEGER): Decoder<number> {
  const any = integer(Number.MIN_SAFE_INTEGER);
  return {
    decode(value, reading) {
      const read = any.decode(value);
      if (read === MISMATCH) return wrong(reading, value, 'int_type', 'It must be a whole number');
      return refusedBy(rangeProblem(read, min, max), value, reading) ?? read;
    },
    describe: () => ({ type: 'integer', minimum: min, maximum: max }),
  };
}

export const bodyBoolean: Decoder<boolean> = {
  decode: (value, reading) =>
    typeof value === 'boolean' ? value : wrong(reading, value, 'bool_type', 'It must be true or false'),
  describe: () => ({ type: 'boolean' }),
};

export function bodyList<T>(
  item: Decoder<T>,
  { min, max }: { readonly min: number; readonly max: number },
): Decoder<readonly T[]> {
  return {
    decode(value, reading) {
      if (!Array.isArray(value)) return wrong(reading, value, 'list_type', 'It must be a list');
      const { length } = value;
      if (length < min) return wrong(reading, null, 'too_short', `It must have at least ${min} entries`);
      if (length > max) return wrong(reading, null, 'too_long', `It must have at most ${max} entries`);
      const decoded: T[] = [];
      for (const [index, entry] of value.entries()) {
        const element = item.decode(entry, reading);
        if (element === MISMATCH) {
          reading?.refuse(index, 'mismatch');
          return MISMATCH;
        }
        decoded.push(element);
      }
      return decoded;
    },
    describe: () => ({ type: 'array', items: item.describe(), minItems: min, maxItems: max }),
  };
}

/** Finds the provider that a body names. Throws 400 for an unknown one, so call it after everything else has been read. */
export function providerNamed(raw: string, { among = 'registered' }: ProviderRules = {}): Provider {
  const provider = providerOf(raw);
  const known = among === 'recorded' ? PROVIDERS : REGISTERED;
  if (provider === undefined || !known.includes(provider)) throw unknownProvider(raw);
  return provider;
}

/** A value as the caller sent it, with plain numbers. */
export function plainJson(value: unknown): unknown {
  if (value instanceof NumberToken) return Number(value.text);
  if (Array.isArray(value)) return value.map(plainJson);
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, plainJson(inner)]));
}

function wrong(reading: Reading | undefined, input: unknown, type: string, message: string): Mismatch {
  reading?.explain({ type, message, input });
  return MISMATCH;
}

function refusedBy(
  problem: TextProblem | undefined,
  input: unknown,
  reading: Reading | undefined,
): Mismatch | undefined {
  return problem === undefined ? undefined : wrong(reading, input, problem.type, problem.message);
}

function isRecord(value: unknown): value is JsonRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
