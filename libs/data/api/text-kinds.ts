import type { JsonSchema } from '#libs/edge/decoding/decode.js';
import { characters } from '#libs/edge/decoding/decode-scalars.js';
import { PROVIDERS, providerOf, REGISTERED, type Provider } from '../rules/providers.js';
import { microsOfTime, microsOfUnixSeconds } from '../rules/times.js';
import { unknownProviderDetail } from './refusals.js';

/** The type and words of a fault, as replies with 422 show them. */
export interface TextProblem {
  readonly type: string;
  readonly message: string;
}

/** `refused`: it reads well but means nothing, which is said only once everything has been read. */
export type TextRead<T> =
  { readonly value: T } | { readonly problem: TextProblem } | { readonly refused: string };

/** Reads the text of one parameter, percent-decoded. */
export interface TextKind<T> {
  read(text: string): TextRead<T>;
  describe(): JsonSchema;
}

const INTEGER = /^-?[0-9]+$/;
const BOOLEANS: Readonly<Record<string, boolean>> = { true: true, '1': true, false: false, '0': false };
const LONGEST_ID = 128;
const LONGEST_NAME = 64;
/** `+` of an unencoded offset arrives as a space. */
const SPACED_OFFSET = / (?=\d{2}:?\d{2}$)/;

export function problem(type: string, message: string): { readonly problem: TextProblem } {
  return { problem: { type, message } };
}

export function lengthProblem(text: string, min: number, max: number): TextProblem | undefined {
  const length = characters(text);
  if (length < min) return { type: 'string_too_short', message: `It must have at least ${min} characters` };
  if (length > max) return { type: 'string_too_long', message: `It must have at most ${max} characters` };
  return undefined;
}

export function rangeProblem(value: number, min: number, max: number): TextProblem | undefined {
  if (value < min) return { type: 'greater_than_equal', message: `It must be at least ${min}` };
  if (value > max) return { type: 'less_than_equal', message: `It must be at most ${max}` };
  return undefined;
}

export function text(min: number, max: number): TextKind<string> {
  return {
    read(given) {
      const wrong = lengthProblem(given, min, max);
      return wrong === undefined ? { value: given } : { problem: wrong };
    },
    describe: () => ({ type: 'string', minLength: min, maxLength: max }),
  };
}

/** Of a market, a condition, a token or a ticker. */
export const id: TextKind<string> = text(1, LONGEST_ID);

export function integer(min: number, max: number = Number.MAX_SAFE_INTEGER): TextKind<number> {
  return {
    read(given) {
      if (!INTEGER.test(given)) return problem('int_parsing', 'It must be a whole number');
      // Not -0.
      const value = Number(given) + 0;
      const wrong = rangeProblem(value, min, max);
      return wrong === undefined ? { value } : { problem: wrong };
    },
    describe: () => ({ type: 'integer', minimum: min, maximum: max }),
  };
}

export const boolean: TextKind<boolean> = {
  read(given) {
    const lower = given.toLowerCase();
    const value = Object.hasOwn(BOOLEANS, lower) ? BOOLEANS[lower] : undefined;
    return value === undefined ? problem('bool_parsing', 'It must be true, false, 1 or 0') : { value };
  },
  describe: () => ({ type: 'boolean' }),
};

/** Microseconds. */
export const time: TextKind<number> = {
  read(given) {
    const value = microsOfTime(given) ?? microsOfTime(given.replace(SPACED_OFFSET, '+'));
    return value === undefined ? problem('datetime_parsing', 'It must be a time of ISO 8601') : { value };
  },
  describe: () => ({ type: 'string', format: 'date-time' }),
};

/** Microseconds, of unix seconds that may have a fraction. Not negative. */
export const unixTime: TextKind<number> = {
  read(given) {
    const value = microsOfUnixSeconds(given);
    return value === undefined ? problem('float_parsing', 'It must be unix seconds, 0 or more') : { value };
  },
  describe: () => ({ type: 'number', minimum: 0 }),
};

export function word<const W extends string>(words: readonly W[]): TextKind<W> {
  return {
    read(given) {
      const value = words.find((known) => known === given);
      return value === undefined
        ? problem('literal_error', `It must be one of ${words.join(', ')}`)
        : { value };
    },
    describe: () => ({ type: 'string', enum: words }),
  };
}

export interface ProviderRules {
  /** `recorded`: the provider of recorded series too, which is in no list. */
  readonly among?: 'registered' | 'recorded';
  /** Names of impossible lengths cannot be read, and are not merely unknown. */
  readonly isBounded?: true;
}

/** In any case, and trimmed. What is unknown is refused after everything else has been read. */
export function providerName({ among = 'registered', isBounded }: ProviderRules = {}): TextKind<Provider> {
  const known = among === 'recorded' ? PROVIDERS : REGISTERED;
  return {
    read(given) {
      const wrong = isBounded === true ? lengthProblem(given, 1, LONGEST_NAME) : undefined;
      if (wrong !== undefined) return { problem: wrong };
      const value = providerOf(given);
      return value === undefined || !known.includes(value)
        ? { refused: unknownProviderDetail(given) }
        : { value };
    },
    describe: () => ({
      type: 'string',
      description: `One of ${known.join(', ')}, in any case`,
      ...(isBounded === true ? { minLength: 1, maxLength: LONGEST_NAME } : {}),
    }),
  };
}
