import type { JsonSchema } from '#libs/edge/decoding/decode.js';
import type { OpenApi, OpenApiOperation } from '#libs/edge/documents/openapi-types.js';

/** Every field of a schema with its path, at any depth. */
function fieldsOf(schema: unknown, at: string): (readonly [string, JsonSchema])[] {
  if (typeof schema !== 'object' || schema === null) return [];
  return Object.entries(schema).flatMap(([name, inner]) => {
    if (name !== 'properties') return fieldsOf(inner, at);
    return Object.entries(inner as Readonly<Record<string, JsonSchema>>).flatMap(([field, described]) => [
      [`${at}.${field}`, described] as const,
      ...fieldsOf(described, `${at}.${field}`),
    ]);
  });
}

export function operationsOf({ paths }: OpenApi): readonly OpenApiOperation[] {
  return Object.values(paths).flatMap((methods) => Object.values(methods));
}

/** Fields of schemas without a description. */
export function silentFields({ components }: OpenApi): string[] {
  return Object.entries(components.schemas)
    .flatMap(([name, schema]) => fieldsOf(schema, name))
    .filter(([, schema]) => schema.description === undefined)
    .map(([field]) => field);
}

export function silentParameters(document: OpenApi): string[] {
  return operationsOf(document).flatMap(({ operationId, parameters }) =>
    parameters.flatMap((parameter) =>
      '$ref' in parameter || parameter.description !== '' ? [] : [`${operationId} ${parameter.name}`],
    ),
  );
}

export function silentHeaders(document: OpenApi): string[] {
  const silent = operationsOf(document).flatMap(({ operationId, responses }) =>
    Object.values(responses).flatMap((response) =>
      '$ref' in response
        ? []
        : Object.entries(response.headers ?? {}).flatMap(([name, header]) =>
            '$ref' in header || header.description !== '' ? [] : [`${operationId} ${name}`],
          ),
    ),
  );
  return [...new Set(silent)];
}

/** Objects that allow undeclared fields. */
export function openObjects({ components }: OpenApi): string[] {
  const open: string[] = [];
  const look = (schema: unknown, at: string): void => {
    if (typeof schema !== 'object' || schema === null) return;
    const { properties, additionalProperties, $ref } = schema as Record<string, unknown>;
    if (properties !== undefined && additionalProperties !== false && $ref === undefined) open.push(at);
    for (const [name, inner] of Object.entries(schema)) look(inner, `${at}/${name}`);
  };
  look(components.schemas, '');
  return open;
}
