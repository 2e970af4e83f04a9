import type { JsonSchema } from '../decoding/decode.js';
import type { Shape } from './shapes.js';

const COMPONENT = Symbol('component');

interface Component {
  readonly name: string;
  readonly schema: JsonSchema;
}

interface Marked {
  readonly [COMPONENT]?: Component;
}

/** A shape that a document defines once under this name and references elsewhere. */
export function named(name: string, shape: Shape): Shape {
  return { describe: () => ({ [COMPONENT]: { name, schema: shape.describe() } }) };
}

/** Collects the named shapes of a document, and replaces them by references. */
export class Components {
  private readonly found = new Map<string, JsonSchema>();

  /** By name, in alphabetical order. */
  get schemas(): Readonly<Record<string, JsonSchema>> {
    return Object.fromEntries([...this.found].sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  schemaOf(shape: Shape): JsonSchema {
    return this.hoisted(shape.describe());
  }

  hoisted(schema: JsonSchema): JsonSchema {
    const rest = Object.fromEntries(
      Object.entries(schema).map(([name, value]) => [name, this.hoistedValue(value)] as const),
    );
    const component = (schema as Marked)[COMPONENT];
    if (component === undefined) return rest;
    this.define(component);
    return { $ref: `#/components/schemas/${component.name}`, ...rest };
  }

  private hoistedValue(value: unknown): unknown {
    if (Array.isArray(value)) return value.map((element) => this.hoistedValue(element));
    return typeof value === 'object' && value !== null ? this.hoisted({ ...value }) : value;
  }

  private define({ name, schema }: Component): void {
    const defined = this.hoisted(schema);
    const known = this.found.get(name);
    if (known !== undefined && JSON.stringify(known) !== JSON.stringify(defined)) {
      throw new Error(`two different schemas have the name ${name}`);
    }
    this.found.set(name, defined);
  }
}
