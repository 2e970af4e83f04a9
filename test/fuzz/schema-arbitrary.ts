import fc from 'fast-check';
import type { JsonSchema } from '#libs/edge/decoding/decode.js';

export type Schemas = Readonly<Record<string, JsonSchema>>;
/** Existing values in the cluster, by field name, or by operation and field name. Lists are read when a value is drawn. */
export type RealValues = ReadonlyMap<string, readonly unknown[]>;

/** The part of JSON Schema that the documents use. */
export interface JsonShape {
  readonly $ref?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly type?: string;
  readonly format?: string;
  readonly pattern?: string;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly items?: JsonSchema;
  readonly oneOf?: readonly JsonSchema[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
}

const REAL_TO_ANY = [6, 1] as const;
/** None of them lies within a run, so time alone changes no fixture. */
const MOMENTS = ['2020-01-01T00:00:00.000000000Z', '2031-01-01T00:00:00.000000001Z'];
const PLAIN = '^[a-z]{1,12}$';
/** Cached, because making one is slow. */
const TEXTS = new Map<string, fc.Arbitrary<string>>();
const MOST = { items: 3, number: 1_000_000_000 };

/** Values that a document's schemas allow, mostly made of existing ones. */
export class SchemaArbitraries {
  constructor(
    private readonly schemas: Schemas,
    private readonly real: RealValues,
  ) {}

  /** `scope` names the operation or the message. */
  of(schema: JsonSchema, scope: string, name: string): fc.Arbitrary<unknown> {
    const real = this.real.get(`${scope}.${name}`) ?? this.real.get(name);
    const shape = shapeOf(schema, this.schemas);
    const any = this.allowed(shape, scope, name);
    // An array and its items have the same name.
    if (real === undefined || (shape.type === 'array') !== Array.isArray(real[0])) return any;
    const [often, seldom] = name === 'body' ? [1, 1] : REAL_TO_ANY;
    const existing = fc.noBias(fc.nat(9_999)).map((at) => real[at % real.length]);
    return fc.oneof({ weight: often, arbitrary: existing }, { weight: seldom, arbitrary: any });
  }

  private allowed(shape: JsonShape, scope: string, name: string): fc.Arbitrary<unknown> {
    const { oneOf, minimum = 0, maximum = MOST.number, items } = shape;
    if ('const' in shape) return fc.constant(shape.const);
    if (shape.enum !== undefined) return fc.constantFrom(...shape.enum);
    if (oneOf !== undefined) return fc.oneof(...oneOf.map((branch) => this.of(branch, scope, name)));
    switch (shape.type) {
      case 'object':
        return this.object(shape, scope);
      case 'array':
        return items === undefined
          ? fc.constant([])
          : fc.array(this.of(items, scope, name), { maxLength: MOST.items });
      case 'integer':
      case 'number':
        return fc.integer({ min: minimum, max: Math.min(maximum, MOST.number) });
      case 'boolean':
        return fc.boolean();
      default:
        if (shape.format === 'date-time') return fc.constantFrom(...MOMENTS);
        return textLike(shape.pattern ?? PLAIN);
    }
  }

  private object({ properties = {}, required = [] }: JsonShape, scope: string): fc.Arbitrary<unknown> {
    const fields = Object.entries(properties).map(
      ([name, schema]) => [name, this.of(schema, scope, name)] as const,
    );
    const [least, all] = [fields.filter(([name]) => required.includes(name)), fields].map((some) =>
      fc.record(Object.fromEntries(some), { requiredKeys: [...required], noNullPrototype: true }),
    );
    // Each optional field is one more that rules may refuse.
    return fc.oneof(least ?? fc.constant({}), all ?? fc.constant({}));
  }
}

function textLike(pattern: string): fc.Arbitrary<string> {
  const known = TEXTS.get(pattern) ?? fc.stringMatching(new RegExp(pattern));
  TEXTS.set(pattern, known);
  return known;
}

export function shapeOf(schema: JsonSchema, schemas: Schemas): JsonShape {
  const { $ref: reference }: JsonShape = schema;
  return reference === undefined ? schema : (schemas[reference.slice(reference.lastIndexOf('/') + 1)] ?? {});
}
