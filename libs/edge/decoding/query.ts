import { type Decoder, type JsonSchema, MISMATCH, type Mismatch } from './decode.js';
import { Reading } from './reading.js';
import { parseStrictBytes } from './strict-json.js';

/** Reads one query parameter; `undefined` if it is absent. */
export interface Param<T> {
  read(text: string | undefined): T | Mismatch;
  describe(): JsonSchema;
}

type Read<P> = P extends Param<infer T> ? T : never;

/** The query of an endpoint: its parameters, each at most once and, if strict, no others. `fault` is the error code. */
export interface Query<T> {
  readonly fault: string;
  read(raw: string, reading?: Reading): T | Mismatch;
  describe(): Readonly<Record<string, JsonSchema>>;
}

export type QueryValues<Q> = Q extends Query<infer T> ? T : never;

export function query<P extends Readonly<Record<string, Param<unknown>>>>(
  fault: string,
  params: P,
): Query<{ readonly [K in keyof P]: Read<P[K]> }> {
  const entries = Object.entries<Param<unknown>>(params);
  return {
    fault,
    read(raw, reading = new Reading()) {
      const remaining = pairs(raw);
      if (remaining === undefined) return MISMATCH;
      const values: Record<string, unknown> = {};
      for (const [name, param] of entries) {
        const value = param.read(remaining.get(name));
        if (value === MISMATCH) {
          reading.refuse(name, remaining.has(name) ? 'mismatch' : 'missing');
          return MISMATCH;
        }
        values[name] = value;
        remaining.delete(name);
      }
      const [unknown] = remaining.keys();
      if (unknown !== undefined && reading.rules.unknown === 'refused') {
        reading.refuse(unknown, 'unknown');
        return MISMATCH;
      }
      return values as { readonly [K in keyof P]: Read<P[K]> };
    },
    describe: () => Object.fromEntries(entries.map(([name, param]) => [name, param.describe()])),
  };
}

/** Undefined for an unreadable query, a repeated name, or an empty name or value. */
function pairs(raw: string): Map<string, string> | undefined {
  const found = new Map<string, string>();
  if (raw === '') return found;
  for (const part of raw.split('&')) {
    const equals = part.indexOf('=');
    if (equals < 1 || equals === part.length - 1) return undefined;
    const name = decoded(part.slice(0, equals));
    const value = decoded(part.slice(equals + 1));
    if (name === undefined || value === undefined || found.has(name)) return undefined;
    found.set(name, value);
  }
  return found;
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return undefined;
  }
}

const INTEGER = /^(?:0|[1-9][0-9]{0,15})$/;

export function integerParam(min: number, max: number, fallback: number): Param<number> {
  return {
    read(text) {
      if (text === undefined) return fallback;
      const value = INTEGER.test(text) ? Number(text) : -1;
      return value >= min && value <= max ? value : MISMATCH;
    },
    describe: () => ({ type: 'integer', minimum: min, maximum: max, default: fallback }),
  };
}

/** A parameter without effect on replies of `mediaType`. An unreadable value becomes undefined, and the handler decides. */
export function ignoredIn<T>(mediaType: string, param: Param<T>): Param<T | undefined> {
  return {
    read(text) {
      const value = param.read(text);
      return value === MISMATCH ? undefined : value;
    },
    describe: () => ({ ...param.describe(), 'x-ignored-in': mediaType }),
  };
}

/** An optional parameter that a string decoder reads, such as a word, a pattern or an id. */
export function optionalParam<T>(kind: Decoder<T>): Param<T | undefined> {
  return {
    read: (text) => (text === undefined ? undefined : kind.decode(text)),
    describe: () => kind.describe(),
  };
}

const CURSOR_CHARS = 512;
const CURSOR_BYTES = 256;

export interface Cursor<T> {
  readonly param: Param<T | undefined>;
  encode(position: T): string;
}

/** An opaque position in a list: base64url of the JSON of the list's sort keys. */
export function cursor<T extends object>(position: Decoder<T>): Cursor<T> {
  return {
    encode: (at) => Buffer.from(JSON.stringify(at), 'utf8').toString('base64url'),
    param: {
      read(text) {
        if (text === undefined) return undefined;
        const bytes = text.length <= CURSOR_CHARS ? base64urlBytes(text) : undefined;
        if (bytes === undefined || bytes.length > CURSOR_BYTES) return MISMATCH;
        const parsed = parseStrictBytes(bytes);
        return parsed.ok ? position.decode(parsed.value) : MISMATCH;
      },
      describe: () => ({ type: 'string', maxLength: CURSOR_CHARS }),
    },
  };
}

/** Undefined unless `text` is the canonical encoding: no padding, no stray bits, no other alphabet. */
export function base64urlBytes(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64url');
  return bytes.toString('base64url') === text ? bytes : undefined;
}
