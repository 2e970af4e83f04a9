import type { JsonSchema } from '../decoding/decode.js';
import { templateOf, type EndpointSpec } from '../endpoint.js';
import type { About } from './about.js';
import { Components } from './components.js';
import { edgeAnswersOf } from './edge-answers.js';
import { explainFields } from './field-meanings.js';
import type { OpenApi, OpenApiOperation } from './openapi-types.js';
import { COMMON_PARAMETERS, operationOf } from './operation.js';
import { EVERY_HEADER, Responses } from './responses.js';

const ERROR: JsonSchema = {
  type: 'object',
  description: 'The common form of errors.',
  properties: { error: { type: 'string' } },
  required: ['error'],
  additionalProperties: false,
};
const REJECTION: JsonSchema = {
  type: 'object',
  description: 'An error with a message.',
  properties: { error: { type: 'string' }, message: { type: 'string' } },
  required: ['error', 'message'],
  additionalProperties: false,
};

/** The OpenAPI document of these endpoints, derived from their declarations and from the edge. */
export function openApiDocument(specs: readonly EndpointSpec[], about: About): OpenApi {
  const components = new Components();
  const responses = new Responses(about, components);
  const paths: Record<string, Record<string, OpenApiOperation>> = {};
  for (const spec of specs) {
    const operations = (paths[templateOf(spec.path)] ??= {});
    operations[spec.method.toLowerCase()] = operationOf(spec, about, components, responses);
  }
  const common = responses.common;
  const { manners } = about;
  const schemes = {
    [about.sessionScheme]: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
    ...manners?.securitySchemes,
  };
  const used = new Set(specs.map((spec) => about.tagOf(spec)));
  return {
    openapi: '3.1.0',
    info: {
      title: about.title,
      version: about.version,
      description: about.description,
      license: { name: 'Proprietary', identifier: 'LicenseRef-Proprietary' },
    },
    servers: [{ url: '/', description: 'The gateway that serves this document' }],
    tags: about.tags.filter(({ name }) => used.has(name)),
    security: [{ [about.sessionScheme]: [] }],
    paths,
    components: {
      securitySchemes: schemes,
      headers: { ...EVERY_HEADER, ...manners?.headers },
      parameters: COMMON_PARAMETERS,
      responses: common,
      schemas: explainFields(
        { ...components.schemas, ...(manners?.schemas ?? { Error: ERROR, Rejection: REJECTION }) },
        about.fields,
      ),
    },
    'x-any-path': Object.fromEntries(
      edgeAnswersOf(about.dialect).map(({ name, status }) => [
        status,
        { $ref: `#/components/responses/${name}` },
      ]),
    ),
  };
}
