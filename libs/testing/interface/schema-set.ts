import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type { JsonSchema } from '../../edge/decoding/decode.js';

type Schemas = Readonly<Record<string, JsonSchema>>;

interface Known {
  readonly $ref?: string;
  readonly properties?: Schemas;
  readonly items?: JsonSchema;
  /** For objects with arbitrary keys. */
  readonly additionalProperties?: JsonSchema | boolean;
  readonly enum?: readonly unknown[];
  readonly oneOf?: readonly JsonSchema[];
}

const REF = '#/components/schemas/';

/** The named schemas of a document, for validating values and for finding which of their parts a value shows. */
export class SchemaSet {
  private readonly ajv = new Ajv2020({ strict: true, allErrors: true, keywords: ['x-ignored-in'] });
  private readonly compiled = new Map<JsonSchema, ValidateFunction>();

  constructor(private readonly schemas: Schemas) {
    addFormats.default(this.ajv);
    for (const [name, schema] of Object.entries(schemas))
      this.ajv.addSchema(relinked(schema) as object, name);
  }

  /** The deviations of `value` from the schema, one line each. */
  faults(schema: JsonSchema, value: unknown): string[] {
    const validate = this.validator(schema);
    return validate(value) ? [] : (validate.errors ?? []).map(lineOf);
  }

  /** Everything that can be shown: `Schema.field`, and `Schema.field=WORD` for every word that is allowed there. */
  get parts(): string[] {
    return Object.entries(this.schemas).flatMap(([name, schema]) => this.partsOf(schema, name));
  }

  /** Adds the parts that a valid `value` shows. `at` names the position of `schema` in the document. */
  show(schema: JsonSchema, value: unknown, at: string, shown: Set<string>): void {
    const known: Known = schema;
    if (known.$ref !== undefined) {
      const name = known.$ref.slice(REF.length);
      this.show(this.schemas[name] ?? {}, value, name, shown);
    }
    if (known.enum !== undefined) shown.add(`${at}=${String(value)}`);
    for (const branch of known.oneOf ?? []) {
      if (this.faults(branch, value).length === 0) this.show(branch, value, at, shown);
    }
    if (Array.isArray(value)) {
      for (const element of value) this.show(known.items ?? {}, element, at, shown);
    } else if (typeof value === 'object' && value !== null) {
      for (const [name, inner] of Object.entries(value)) {
        const field = known.properties?.[name];
        if (field === undefined) {
          if (typeof known.additionalProperties === 'object')
            this.show(known.additionalProperties, inner, at, shown);
          continue;
        }
        shown.add(`${at}.${name}`);
        this.show(field, inner, `${at}.${name}`, shown);
      }
    }
  }

  private partsOf(schema: JsonSchema, at: string): string[] {
    const known: Known = schema;
    return [
      ...(known.enum ?? []).map((word) => `${at}=${String(word)}`),
      ...(known.items === undefined ? [] : this.partsOf(known.items, at)),
      ...(known.oneOf ?? []).flatMap((branch) => this.partsOf(branch, at)),
      ...Object.entries(known.properties ?? {}).flatMap(([name, field]) => [
        `${at}.${name}`,
        ...this.partsOf(field, `${at}.${name}`),
      ]),
    ];
  }

  private validator(schema: JsonSchema): ValidateFunction {
    const known = this.compiled.get(schema) ?? this.ajv.compile(relinked(schema) as object);
    this.compiled.set(schema, known);
    return known;
  }
}

/** Replaces references by the names under which the validator knows the schemas. */
function relinked(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(relinked);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [
      name,
      name === '$ref' && typeof inner === 'string' ? inner.replace(REF, '') : relinked(inner),
    ]),
  );
}

function lineOf({ instancePath, message, params }: ErrorObject): string {
  return `${instancePath === '' ? 'it' : instancePath} ${message ?? 'is wrong'} ${JSON.stringify(params)}`;
}
