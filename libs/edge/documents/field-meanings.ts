import type { JsonSchema } from '../decoding/decode.js';

type Meanings = Readonly<Record<string, string>>;

/**
 * Adds a description to every field that has none: the meaning of `Schema.field` if there is one, else that of the name. A name
 * has one meaning everywhere.
 */
export function explainFields(
  schemas: Readonly<Record<string, JsonSchema>>,
  meanings: Meanings,
): Readonly<Record<string, JsonSchema>> {
  return Object.fromEntries(
    Object.entries(schemas).map(([name, schema]) => [name, explained(schema, name, meanings) as JsonSchema]),
  );
}

function explained(value: unknown, owner: string, meanings: Meanings): unknown {
  if (Array.isArray(value)) return value.map((element) => explained(element, owner, meanings));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [
      name,
      name === 'properties'
        ? described(inner as Readonly<Record<string, JsonSchema>>, owner, meanings)
        : explained(inner, owner, meanings),
    ]),
  );
}

function described(
  properties: Readonly<Record<string, JsonSchema>>,
  owner: string,
  meanings: Meanings,
): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(properties).map(([field, schema]) => {
      const inner = explained(schema, owner, meanings) as JsonSchema;
      const meaning = meanings[`${owner}.${field}`] ?? meanings[field];
      return [
        field,
        'description' in inner || meaning === undefined ? inner : { ...inner, description: meaning },
      ];
    }),
  );
}
