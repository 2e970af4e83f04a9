import { type JsonSchema, MISMATCH } from '#libs/edge/decoding/decode.js';
import type { Query } from '#libs/edge/decoding/query.js';
import type { FaultLocation, ValueFault } from '#libs/edge/decoding/reading.js';
import { Reading } from '#libs/edge/decoding/reading.js';
import { text, type TextKind, type TextProblem } from './text-kinds.js';

/** A query parameter: how often it may occur, and its value if absent. */
export interface DataParam<T> {
  readonly isList: boolean;
  /** `values` are decoded, and lists are split. */
  read(values: readonly string[]): ParamRead<T>;
  describe(): JsonSchema;
}

type ParamRead<T> =
  | { readonly value: T }
  | {
      readonly problem: TextProblem;
      readonly reason: ValueFault;
      readonly index?: number;
      readonly input?: unknown;
    }
  | { readonly refused: string };

type ValueOf<P> = P extends DataParam<infer T> ? T : never;
type ValuesOf<P> = { readonly [K in keyof P]: ValueOf<P[K]> };

const MISSING: TextProblem = { type: 'missing', message: 'It is required' };
const REPEATED: TextProblem = { type: 'repeated', message: 'It must be given once' };
const BROKEN: TextProblem = { type: 'percent_encoding', message: 'Its percent-encoding is broken' };

export function required<T>(kind: TextKind<T>): DataParam<T> {
  return single(kind, { problem: MISSING, reason: 'missing' }, { required: true });
}

export function optional<T>(kind: TextKind<T>): DataParam<T | undefined> {
  return single<T | undefined>(kind, { value: undefined }, {});
}

export function withDefault<T extends string | number | boolean>(kind: TextKind<T>, usual: T): DataParam<T> {
  return single(kind, { value: usual }, { default: usual });
}

export interface ListBounds {
  /** With 1 or more, the list is required. */
  readonly min?: number;
  readonly max: number;
}

/** A list parameter: repeated or comma-separated, with or without `[]` after the name. */
export function listParam<T>(item: TextKind<T>, { min = 0, max }: ListBounds): DataParam<readonly T[]> {
  return {
    isList: true,
    read(values) {
      if (values.length === 0 && min > 0) return { problem: MISSING, reason: 'missing' };
      if (values.length < min) return bounded('too_short', `It must have at least ${min} entries`);
      if (values.length > max) return bounded('too_long', `It must have at most ${max} entries`);
      const read: T[] = [];
      for (const [index, value] of values.entries()) {
        const outcome = item.read(value);
        if ('refused' in outcome) return outcome;
        if ('problem' in outcome) return { ...outcome, reason: 'mismatch', index, input: value };
        read.push(outcome.value);
      }
      return { value: read };
    },
    describe: () => ({
      type: 'array',
      items: item.describe(),
      maxItems: max,
      ...(min > 0 ? { minItems: min, required: true } : {}),
    }),
  };
}

/** An opaque cursor. Empty means the first page. */
export function cursorParam(longest = 512): DataParam<string | undefined> {
  const kind = text(0, longest);
  const read = (values: readonly string[]): ParamRead<string | undefined> =>
    values[0] === ''
      ? { value: undefined }
      : single<string | undefined>(kind, { value: undefined }, {}).read(values);
  return { isList: false, read, describe: () => ({ type: 'string', maxLength: longest }) };
}

/**
 * Reads the query of a route and ignores unknown parameters. Reports all faults. A value that parses but is not valid here, such as
 * an unknown provider, is refused later by the check `domain`.
 */
export function dataQuery<P extends Readonly<Record<string, DataParam<unknown>>>>(
  params: P,
): Query<ValuesOf<P>> {
  const entries = Object.entries<DataParam<unknown>>(params);
  return {
    fault: 'invalid_query',
    read(raw, reading = new Reading()) {
      const received = valuesIn(raw, params);
      const values: Record<string, unknown> = {};
      let refused: string | undefined;
      let faults = 0;
      for (const [name, param] of entries) {
        const outcome = readOne(param, received.get(name) ?? []);
        if ('value' in outcome) values[name] = outcome.value;
        else if ('refused' in outcome) refused ??= outcome.refused;
        else {
          faults += 1;
          reading.note(locationOf(name, outcome));
        }
      }
      if (faults > 0) return MISMATCH;
      if (refused !== undefined) refusedQueries.set(values, refused);
      return values as ValuesOf<P>;
    },
    describe: () => Object.fromEntries(entries.map(([name, param]) => [name, param.describe()])),
  };
}

/** Queries that parse but must be refused, with the reason. */
const refusedQueries = new WeakMap<object, string>();

/** Why this parsed query must be refused; undefined if it is valid. */
export function refusedIn(values: unknown): string | undefined {
  return typeof values === 'object' && values !== null ? refusedQueries.get(values) : undefined;
}

function single<T>(kind: TextKind<T>, absent: ParamRead<T>, more: JsonSchema): DataParam<T> {
  return {
    isList: false,
    read([value, ...others]) {
      if (value === undefined) return absent;
      if (others.length > 0) return { problem: REPEATED, reason: 'repeated', input: [value, ...others] };
      const outcome = kind.read(value);
      return 'problem' in outcome ? { ...outcome, reason: 'mismatch', input: value } : outcome;
    },
    describe: () => ({ ...kind.describe(), ...more }),
  };
}

function bounded(type: string, message: string): ParamRead<never> {
  return { problem: { type, message }, reason: 'mismatch' };
}

function readOne<T>(param: DataParam<T>, received: readonly (string | undefined)[]): ParamRead<T> {
  const values = received.filter((value) => value !== undefined);
  if (values.length < received.length) return { problem: BROKEN, reason: 'mismatch' };
  return param.read(values);
}

function locationOf(
  name: string,
  { problem, reason, index, input = null }: Extract<ParamRead<unknown>, { problem: unknown }>,
): FaultLocation {
  return { path: index === undefined ? [name] : [name, index], reason, why: { ...problem, input } };
}

/** The values by name; undefined stands for a value with broken percent-encoding. */
function valuesIn(
  raw: string,
  params: Readonly<Record<string, DataParam<unknown>>>,
): Map<string, (string | undefined)[]> {
  const found = new Map<string, (string | undefined)[]>();
  for (const part of raw.split('&')) {
    const equals = part.indexOf('=');
    const name = nameIn(equals < 0 ? part : part.slice(0, equals), params);
    if (name === undefined) continue;
    const value = equals < 0 ? '' : decoded(part.slice(equals + 1));
    const known = found.get(name) ?? [];
    found.set(name, known);
    if (params[name]?.isList !== true || value === undefined) known.push(value);
    else if (value !== '') for (const each of value.split(',')) known.push(each);
  }
  return found;
}

function nameIn(encoded: string, params: Readonly<Record<string, DataParam<unknown>>>): string | undefined {
  const name = decoded(encoded);
  if (name === undefined) return undefined;
  if (Object.hasOwn(params, name)) return name;
  const listed = name.endsWith('[]') ? name.slice(0, -2) : '';
  return Object.hasOwn(params, listed) && params[listed]?.isList === true ? listed : undefined;
}

function decoded(encoded: string): string | undefined {
  try {
    return decodeURIComponent(encoded.replaceAll('+', ' '));
  } catch {
    return undefined;
  }
}
