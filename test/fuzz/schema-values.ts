import type { OpenApi } from '#libs/edge/documents/openapi-types.js';
import type { JsonSchema } from '#libs/edge/decoding/decode.js';
import type { Random } from '../simulator/kernel/random.js';

/** What there really is, by the names of the fields that hold such things. */
export type KnownValues = ReadonlyMap<string, readonly unknown[]>;

interface Known {
  readonly $ref?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly type?: string;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly items?: JsonSchema;
  readonly oneOf?: readonly JsonSchema[];
  readonly anyOf?: readonly JsonSchema[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly format?: string;
  readonly additionalProperties?: JsonSchema | boolean;
}

const APART = 0.25;
const MOST_ITEMS = 3;
const OPTIONAL = 0.5;

/** Most things that belong together are named together; how they do is their place in their lists. */
export function pair(
  known: Map<string, readonly unknown[]>,
  [one, other]: readonly [string, string],
  random: Random,
): void {
  const count = known.get(other)?.length ?? 0;
  if (count === 0 || random.chance(APART)) return;
  const at = random.below(count);
  for (const name of [one, other]) known.set(name, [known.get(name)?.[at]]);
}

/** Makes values that a document's schemas allow, out of what there is where the name of a field says what that is. */
export class SchemaValues {
  constructor(
    private readonly schemas: OpenApi['components']['schemas'],
    private readonly known: KnownValues,
    private readonly random: Random,
  ) {}

  value(schema: JsonSchema, name = ''): unknown {
    const { random } = this;
    const known: Known = schema;
    const there = this.known.get(name);
    if (there !== undefined && random.chance(0.9)) return random.pick(there);
    if (known.$ref !== undefined) return this.value(this.named(known.$ref), name);
    if (known.const !== undefined) return known.const;
    if (known.enum !== undefined) return random.pick(known.enum);
    const branches = known.oneOf ?? known.anyOf;
    if (branches !== undefined) return this.value(random.pick(branches), name);
    switch (known.type) {
      case 'object':
        return this.object(known);
      case 'array':
        return this.array(known, name);
      case 'integer':
      case 'number':
        return random.between(known.minimum ?? 0, Math.min(known.maximum ?? 1_000_000, 1_000_000_000));
      case 'boolean':
        return random.chance(0.5);
      default:
        return this.text(known, name);
    }
  }

  private object(known: Known): object {
    const required = new Set(known.required ?? []);
    const fields = Object.entries(known.properties ?? {}).filter(
      ([name]) => required.has(name) || this.random.chance(OPTIONAL),
    );
    return Object.fromEntries(fields.map(([name, schema]) => [name, this.value(schema, name)]));
  }

  private array(known: Known, name: string): unknown[] {
    const { items } = known;
    if (items === undefined) return [];
    const count = this.random.between(known.minItems ?? 1, Math.max(known.minItems ?? 1, MOST_ITEMS));
    return Array.from({ length: count }, () => this.value(items, name));
  }

  private text({ format }: Known, name: string): string {
    if (format === 'uuid') return this.random.uuid();
    if (format === 'date-time') return '2030-01-01T00:00:00.000000000Z';
    return `${name === '' ? 'text' : name}-${this.random.below(1_000)}`;
  }

  private named(reference: string): JsonSchema {
    return this.schemas[reference.slice(reference.lastIndexOf('/') + 1)] ?? {};
  }
}
