import type { JsonSchema } from '../decoding/decode.js';
import type { EndpointSpec } from '../endpoint.js';
import type { Content, Header, Parameter, Security } from './openapi-types.js';
import type { Shape } from './shapes.js';

/** How a service speaks that does not write refusals in the flat envelope, or takes other credentials than a session alone. */
export interface Manners {
  /** The schemas of refusals. */
  readonly schemas: Readonly<Record<string, JsonSchema>>;
  /** On every answer, besides those that all services have. */
  readonly headers: Readonly<Record<string, Header>>;
  readonly securitySchemes: Readonly<Record<string, JsonSchema>>;
  /** Of what any path may answer, by its name, where the usual words do not fit. */
  readonly descriptions: Readonly<Record<string, string>>;
  /** The body of a refusal with one of these codes; undefined where it has none. */
  contentOf(codes: readonly string[]): Content | undefined;
  /** On answers of one status; without an endpoint: on those that any path may give. */
  headersOf(status: number, spec: EndpointSpec | undefined): Readonly<Record<string, Shape>>;
  securityOf(spec: EndpointSpec): readonly Security[];
  parametersOf(spec: EndpointSpec): readonly Parameter[];
}
