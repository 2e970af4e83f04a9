import type { JsonSchema } from '../decoding/decode.js';
import { namesIn, type EndpointSpec } from '../endpoint.js';
import type { About } from './about.js';
import type { Components } from './components.js';
import { named } from './components.js';
import type { OpenApiOperation, Parameter, Reference, Security } from './openapi-types.js';
import type { Responses } from './responses.js';

const KEY: JsonSchema = { type: 'string', pattern: '^[A-Za-z0-9._:-]{1,128}$' };

/** Parameters that are the same in all operations. */
export const COMMON_PARAMETERS: Readonly<Record<string, Parameter>> = {
  RequestId: {
    name: 'X-Request-Id',
    in: 'header',
    description: "The caller's id for this request. An id that does not match the pattern is ignored.",
    schema: KEY,
  },
  IdempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    description:
      'Makes the call repeatable: see "Repeating a call". Required, here or as `idempotency_key` in the body; both must be equal.',
    schema: KEY,
  },
  IfNoneMatch: {
    name: 'If-None-Match',
    in: 'header',
    description: "The `ETag` of the caller's copy. While it is current the answer is 304 without a body.",
    schema: { type: 'string' },
  },
};

export function operationOf(
  spec: EndpointSpec,
  about: About,
  components: Components,
  responses: Responses,
): OpenApiOperation {
  const example = about.examplesOf(spec.operationId)?.request;
  return {
    operationId: spec.operationId,
    summary: spec.summary ?? spec.operationId,
    ...(spec.description === undefined ? {} : { description: spec.description }),
    tags: [about.tagOf(spec)],
    security: securityOf(spec, about),
    parameters: parametersOf(spec, about, components),
    ...(spec.body === undefined
      ? {}
      : {
          requestBody: {
            required: true,
            content: {
              'application/json': {
                schema: components.hoisted(bodyOf(spec, spec.body)),
                ...(example === undefined ? {} : { examples: { recorded: { value: example } } }),
              },
            },
          },
        }),
    responses: responses.of(spec),
  };
}

function securityOf(spec: EndpointSpec, about: About): readonly Security[] {
  if (spec.access === 'public' && spec.checksToken !== true) return [];
  if (about.manners !== undefined) return about.manners.securityOf(spec);
  return [{ [about.sessionScheme]: spec.capability === undefined ? [] : [spec.capability] }];
}

function parametersOf(
  spec: EndpointSpec,
  about: About,
  components: Components,
): readonly (Parameter | Reference)[] {
  const explained = (name: string, schema: JsonSchema) => ({
    description: about.fields[name] ?? '',
    schema: components.hoisted(schema),
  });
  const ids = namesIn(spec.path).map((name) => ({
    name,
    in: 'path' as const,
    required: true,
    ...explained(name, spec.ids?.[name]?.describe?.() ?? { type: 'string' }),
  }));
  const query = Object.entries(spec.query?.describe() ?? {}).map(([name, described]) => {
    const { required, ...schema } = described;
    return required === true
      ? { name, in: 'query' as const, required, ...explained(name, schema) }
      : { name, in: 'query' as const, required: false, ...explained(name, described) };
  });
  const tagged = Object.values(spec.answers ?? {}).some(({ headers }) => headers?.etag !== undefined);
  const common = [
    ...(spec.idempotency === 'required' ? ['IdempotencyKey'] : []),
    ...(tagged ? ['IfNoneMatch'] : []),
    'RequestId',
  ];
  const own = about.manners?.parametersOf(spec) ?? [];
  return [...ids, ...query, ...own, ...common.map((name) => ({ $ref: `#/components/parameters/${name}` }))];
}

/** The request body: the idempotency key is not part of its content but may be in it. */
function bodyOf(spec: EndpointSpec, body: NonNullable<EndpointSpec['body']>): JsonSchema {
  const { bodyName: name = requestName(spec) } = spec;
  const schema = body.describe();
  if (spec.idempotency === undefined) return named(name, { describe: () => schema }).describe();
  const properties = { ...(schema.properties as JsonSchema), idempotency_key: KEY };
  return named(name, { describe: () => ({ ...schema, properties }) }).describe();
}

function requestName({ operationId }: EndpointSpec): string {
  return `${operationId.charAt(0).toUpperCase()}${operationId.slice(1)}Request`;
}
