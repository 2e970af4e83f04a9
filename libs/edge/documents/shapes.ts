import type { JsonSchema } from '../decoding/decode.js';

/** Describes a value in a reply. Every decoder is also a shape, so requests and replies are described alike. */
export interface Shape {
  describe(): JsonSchema;
}

/** True for a field that may be absent. */
export interface OptionalShape extends Shape {
  readonly mayBeAbsent: true;
}

type Fields = Readonly<Record<string, Shape>>;

/** A shape for every field of `T`, with the optional ones marked. A new field of `T` does not compile without a shape. */
export type ShapesOf<T extends object> = {
  readonly [K in keyof T]-?: object extends Pick<T, K> ? OptionalShape : RequiredShape;
};
type RequiredShape = Shape & { readonly mayBeAbsent?: never };

export function optional(shape: Shape): OptionalShape {
  return { describe: () => shape.describe(), mayBeAbsent: true };
}

/** An object with these fields and no others. */
export function record(fields: Fields): Shape {
  const entries = Object.entries(fields);
  const required = entries.filter(([, field]) => !('mayBeAbsent' in field)).map(([name]) => name);
  return {
    describe: () => ({
      type: 'object',
      properties: Object.fromEntries(entries.map(([name, field]) => [name, field.describe()])),
      ...(required.length > 0 ? { required } : {}),
      additionalProperties: false,
    }),
  };
}

/** Like `record`, but the compiler checks the fields against a type. */
export function recordOf<T extends object>(fields: ShapesOf<T>): Shape {
  return record({ ...fields });
}

export function listOf(item: Shape, bounds: { readonly min?: number; readonly max?: number } = {}): Shape {
  return {
    describe: () => ({
      type: 'array',
      items: item.describe(),
      ...(bounds.min === undefined ? {} : { minItems: bounds.min }),
      ...(bounds.max === undefined ? {} : { maxItems: bounds.max }),
    }),
  };
}

/** Exactly one of these. */
export function oneOf(shapes: readonly Shape[]): Shape {
  return { describe: () => ({ oneOf: shapes.map((shape) => shape.describe()) }) };
}

export function described(shape: Shape, description: string): Shape {
  return { describe: () => ({ ...shape.describe(), description }) };
}

export function constant(value: string | boolean | number): Shape {
  return { describe: () => ({ type: typeof value === 'number' ? 'integer' : typeof value, const: value }) };
}

/** An enumeration with meanings. The compiler refuses a missing or an extra word. */
export function words<W extends string>(meanings: Readonly<Record<W, string>>): Shape {
  const entries = Object.entries<string>(meanings);
  return {
    describe: () => ({
      type: 'string',
      enum: entries.map(([word]) => word),
      description: entries.map(([word, meaning]) => `\`${word}\`: ${meaning}`).join('; '),
    }),
  };
}

export const anyText: Shape = { describe: () => ({ type: 'string' }) };
export const flag: Shape = { describe: () => ({ type: 'boolean' }) };
export const nothing: Shape = record({});

/** An instant as the services write it, always with nine fraction digits. */
export const moment: Shape = {
  describe: () => ({
    type: 'string',
    format: 'date-time',
    pattern: String.raw`^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{9}Z$`,
  }),
};

export function integerFrom(minimum: number, maximum: number = Number.MAX_SAFE_INTEGER): Shape {
  return { describe: () => ({ type: 'integer', minimum, maximum }) };
}

/** An amount other than money, such as a number of tokens. It may have a fraction. */
export const amount: Shape = { describe: () => ({ type: 'number', minimum: 0 }) };

/** An integer as decimal digits. */
export function digits(from: 0 | 1): Shape {
  return {
    describe: () => ({ type: 'string', pattern: from === 0 ? '^(0|[1-9][0-9]*)$' : '^[1-9][0-9]*$' }),
  };
}
