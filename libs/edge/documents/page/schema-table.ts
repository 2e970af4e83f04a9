import type { JsonSchema } from '#libs/edge/decoding/decode.js';
import { inline } from './markdown.js';
import { markup, type Markup } from './markup.js';

interface Schema {
  readonly $ref?: string;
  readonly type?: string;
  readonly format?: string;
  readonly const?: string | number | boolean;
  readonly enum?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly items?: Schema;
  readonly oneOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly description?: string;
}

/** A table with a row for every field, nested fields by path. A schema without fields is one line. */
export function schemaTable(schema: JsonSchema): Markup {
  const known: Schema = schema;
  const rows = rowsOf(known, '');
  if (rows.length === 0) return markup`<p class="kind">${kindOf(known)}</p>`;
  return markup`<div class="scroll"><table class="fields">${rows}</table></div>`;
}

export function fieldRow(name: string, note: string | undefined, kind: Markup, meaning: string): Markup {
  const noteText = note === undefined ? undefined : markup` <span class="optional">${note}</span>`;
  return markup`<tr><th><code>${name}</code>${noteText}</th><td>${kind}</td><td>${inline(meaning)}</td></tr>
`;
}

/** The allowed values, in a few words. */
export function kindOf(schema: Schema): Markup {
  if (schema.$ref !== undefined) return linkTo(schema.$ref);
  if (schema.oneOf !== undefined) return separated(schema.oneOf.map(kindOf), ' or ');
  if (schema.const !== undefined) return markup`<code>${JSON.stringify(schema.const)}</code>`;
  if (schema.enum !== undefined) {
    return separated(
      schema.enum.map((word) => markup`<code>${word}</code>`),
      ' ',
    );
  }
  if (schema.items !== undefined)
    return markup`list${bounds(schema.minItems, schema.maxItems)} of ${kindOf(schema.items)}`;
  if (schema.type === 'object' && Object.keys(schema.properties ?? {}).length === 0) return markup`object`;
  const name = schema.format ?? schema.type ?? 'any';
  return markup`${name}${bounds(schema.minimum, schema.maximum)}`;
}

function rowsOf({ properties = {}, required = [] }: Schema, path: string): Markup[] {
  return Object.entries(properties).flatMap(([name, field]) => {
    const inner = field.items ?? field;
    const within = `${path}${name}${field.items === undefined ? '.' : '[].'}`;
    const note = required.includes(name) ? undefined : 'optional';
    const meaning = field.description ?? inner.description ?? '';
    return [fieldRow(`${path}${name}`, note, kindOf(field), meaning), ...rowsOf(inner, within)];
  });
}

function linkTo(reference: string): Markup {
  const name = reference.slice(reference.lastIndexOf('/') + 1);
  return markup`<a href="#schema-${name}">${name}</a>`;
}

function bounds(least: number | undefined, most: number | undefined): string {
  const top = most === undefined || most === Number.MAX_SAFE_INTEGER ? undefined : most;
  if (least === undefined && top === undefined) return '';
  return top === undefined ? ` ≥ ${String(least)}` : ` ${String(least ?? 0)}–${String(top)}`;
}

function separated(parts: readonly Markup[], between: string): Markup {
  return markup`${parts.map((part, at) => (at === 0 ? part : markup`${between}${part}`))}`;
}
