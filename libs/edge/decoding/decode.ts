import type { Reading } from './reading.js';

/** Returned by a decoder for a value of the wrong kind. A symbol, because no JSON text can produce one. */
export const MISMATCH: unique symbol = Symbol('mismatch');
export type Mismatch = typeof MISMATCH;

export type JsonSchema = Readonly<Record<string, unknown>>;

/** Decodes one kind of value from parsed JSON, and describes that kind in JSON Schema. */
export interface Decoder<T> {
  /** Strict, unless `reading` has other rules. */
  decode(value: unknown, reading?: Reading): T | Mismatch;
  describe(): JsonSchema;
  /** Null is a value for fields of this kind, whatever the rules say about null. */
  readonly takesNull?: true;
}

export type Decoded<D> = D extends Decoder<infer T> ? T : never;

type Fields = Readonly<Record<string, Decoder<unknown>>>;
interface Shape {
  readonly required?: Fields;
  readonly optional?: Fields;
}
type Flat<T> = { [K in keyof T]: T[K] };
export type DecodedObject<S extends Shape> = Flat<
  (S extends { readonly required: infer R } ? { readonly [K in keyof R]: Decoded<R[K]> } : unknown) &
    (S extends { readonly optional: infer O } ? { readonly [K in keyof O]?: Decoded<O[K]> } : unknown)
>;

/** Decodes an object with these fields and, if strict, no others. Absent fields stay absent in the result. */
export function object<S extends Shape>(shape: S): Decoder<DecodedObject<S>> {
  const required = Object.entries<Decoder<unknown>>(shape.required ?? {});
  const optional = Object.entries<Decoder<unknown>>(shape.optional ?? {});
  const fields = new Map([...required, ...optional]);
  return {
    decode(value, reading) {
      if (!isObject(value)) return MISMATCH;
      const decoded: Record<string, unknown> = {};
      for (const [name, input] of Object.entries(value)) {
        const read = readField(fields.get(name), input, reading);
        if (read === IGNORED) continue;
        if (read === MISMATCH) {
          reading?.refuse(name, fields.has(name) ? 'mismatch' : 'unknown');
          return MISMATCH;
        }
        decoded[name] = read;
      }
      for (const [name] of required) {
        if (Object.hasOwn(decoded, name)) continue;
        reading?.refuse(name, 'missing');
        return MISMATCH;
      }
      return decoded as DecodedObject<S>;
    },
    describe: () => ({
      type: 'object',
      properties: Object.fromEntries([...fields].map(([name, field]) => [name, field.describe()])),
      ...(required.length > 0 ? { required: required.map(([name]) => name) } : {}),
      additionalProperties: false,
    }),
  };
}

const IGNORED = Symbol('ignored');

function readField(field: Decoder<unknown> | undefined, input: unknown, reading?: Reading): unknown {
  if (field === undefined) return reading?.rules.unknown === 'ignored' ? IGNORED : MISMATCH;
  if (input === null && field.takesNull !== true && reading?.rules.nulls === 'absent') return IGNORED;
  return field.decode(input, reading);
}

/** A value of this kind, or null. In a change, null removes the value and an absent field leaves it alone. */
export function nullable<T>(kind: Decoder<T>): Decoder<T | null> {
  return {
    takesNull: true,
    decode: (value, reading) => (value === null ? null : kind.decode(value, reading)),
    describe: () => ({ anyOf: [kind.describe(), { type: 'null' }] }),
  };
}

/** All of these fields, or none. */
export function allOrNone<F extends Fields>(
  fields: F,
): Decoder<DecodedObject<{ required: F }> | { readonly [K in keyof F]?: undefined }> {
  const all = object({ required: fields });
  const none = object({});
  const names = Object.keys(fields);
  return {
    decode(value, reading) {
      const empty = none.decode(value);
      return empty === MISMATCH ? all.decode(value, reading) : {};
    },
    describe: () => ({
      ...object({ optional: fields }).describe(),
      dependentRequired: Object.fromEntries(
        names.map((name) => [name, names.filter((other) => other !== name)]),
      ),
    }),
  };
}

/** `max` is a technical limit. Limits of business rules are left to those rules, which have their own error codes. */
export function arrayOf<T>(item: Decoder<T>, bounds: { readonly max?: number } = {}): Decoder<readonly T[]> {
  const max = bounds.max ?? Number.MAX_SAFE_INTEGER;
  return {
    decode(value, reading) {
      if (!Array.isArray(value) || value.length > max) return MISMATCH;
      const decoded: T[] = [];
      for (const [index, input] of value.entries()) {
        const element = item.decode(input, reading);
        if (element === MISMATCH) {
          reading?.refuse(index, 'mismatch');
          return MISMATCH;
        }
        decoded.push(element);
      }
      return decoded;
    },
    describe: () => ({
      type: 'array',
      items: item.describe(),
      ...(bounds.max === undefined ? {} : { maxItems: bounds.max }),
    }),
  };
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
