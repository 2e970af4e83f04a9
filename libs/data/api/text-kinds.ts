import type { JsonSchema } from '#libs/edge/decoding/decode.js';
import { characters } from '#libs/edge/decoding/decode-scalars.js';
import { PROVIDERS, providerOf, REGISTERED, type Provider } from '../rules/providers.js';
import { microsOfTime, microsOfUnixSeconds } from '../rules/times.js';
import { unknownProviderDetail } from './refusals.js';

/** The type and message of a fault, as a reply with 422 shows them. */
export interface TextProblem {
  readonly type: string;
  readonly message: string;
}

/** `refused`: the text parses but is not valid here. This is reported only after everything else has been read. */
export type TextRead<T> =
  { readonly value: T } | { readonly problem: TextProblem } | { readonly refused: string };

/** Parses the text of one parameter, after percent-decoding. */
export interface TextKind<T> {
  read(text: string): TextRead<T>;
  describe(): JsonSchema;
}

const INTEGER = /^-?[0-9]+$/;
const BOOLEANS: Readonly<Record<string, boolean>> = { true: true, '1': true, false: false, '0': false };
const LONGEST_ID = 128;
const LONGEST_NAME = 64;
/** An unencoded `+` of a zone offset arrives as a space. */
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
    read(input) {
      const wrong = lengthProblem(input, min, max);
      return wrong === undefined ? { value: input } : { problem: wrong };
    },
    describe: () => ({ type: 'string', minLength: min, maxLength: max }),
  };
}

/** The id of a market, condition or token, or a ticker. */
export const id: TextKind<string> = text(1, LONGEST_ID);

export function integer(min: number, max: number = Number.MAX_SAFE_INTEGER): TextKind<number> {
  return {
    read(input) {
      if (!INTEGER.test(input)) return problem('int_parsing', 'It must be a whole number');
      // Turns -0 into 0.
      const value = Number(input) + 0;
      const wrong = rangeProblem(value, min, max);
      return wrong === undefined ? { value } : { problem: wrong };
    },
    describe: () => ({ type: 'integer', minimum: min, maximum: max }),
  };
}

export const boolean: TextKind<boolean> = {
  read(input) {
    const lower = input.toLowerCase();
    const value = Object.hasOwn(BOOLEANS, lower) ? BOOLEANS[lower] : undefined;
    return value === undefined ? problem('bool_parsing', 'It must be true, false, 1 or 0') : { value };
  },
  describe: () => ({ type: 'boolean' }),
};

/** Microseconds. */
export const time: TextKind<number> = {
  read(input) {
    const value = microsOfTime(input) ?? microsOfTime(input.replace(SPACED_OFFSET, '+'));
    return value === undefined ? problem('datetime_parsing', 'It must be a time of ISO 8601') : { value };
  },
  describe: () => ({ type: 'string', format: 'date-time' }),
};

/** Unix seconds of 0 or more, perhaps with a fraction, in microseconds. */
export const unixTime: TextKind<number> = {
  read(input) {
    const value = microsOfUnixSeconds(input);
    return value === undefined ? problem('float_parsing', 'It must be unix seconds, 0 or more') : { value };
  },
  describe: () => ({ type: 'number', minimum: 0 }),
};

export function word<const W extends string>(words: readonly W[]): TextKind<W> {
  return {
    read(input) {
      const value = words.find((known) => known === input);
      return value === undefined
        ? problem('literal_error', `It must be one of ${words.join(', ')}`)
        : { value };
    },
    describe: () => ({ type: 'string', enum: words }),
  };
}

export interface ProviderRules {
  /** `recorded` includes the provider of recorded series, which no list shows. */
  readonly among?: 'registered' | 'recorded';
  /** Names that are empty or too long are faults of form (422), not unknown providers. */
  readonly isBounded?: true;
}

/** Ignores case and spaces around the name. An unknown name is refused after everything else has been read. */
export function providerName({ among = 'registered', isBounded }: ProviderRules = {}): TextKind<Provider> {
  const known = among === 'recorded' ? PROVIDERS : REGISTERED;
  return {
    read(input) {
      const wrong = isBounded === true ? lengthProblem(input, 1, LONGEST_NAME) : undefined;
      if (wrong !== undefined) return { problem: wrong };
      const value = providerOf(input);
      return value === undefined || !known.includes(value)
        ? { refused: unknownProviderDetail(input) }
        : { value };
    },
    describe: () => ({
      type: 'string',
      description: `One of ${known.join(', ')}, in any case`,
      ...(isBounded === true ? { minLength: 1, maxLength: LONGEST_NAME } : {}),
    }),
  };
}
