import type { JsonSchema } from '../decoding/decode.js';
import type { EndpointSpec } from '../endpoint.js';
import type { Content, Header, Parameter, Security } from './openapi-types.js';
import type { Shape } from './shapes.js';

/** For a service without the flat envelope, or with other credentials than a session. */
export interface Manners {
  /** The schemas of refusals. */
  readonly schemas: Readonly<Record<string, JsonSchema>>;
  /** Headers of every reply, besides those of all services. */
  readonly headers: Readonly<Record<string, Header>>;
  readonly securitySchemes: Readonly<Record<string, JsonSchema>>;
  /** Descriptions of the edge's replies, by name, where the default ones do not fit. */
  readonly descriptions: Readonly<Record<string, string>>;
  /** The body of a refusal with one of these codes; undefined if it has none. */
  contentOf(codes: readonly string[]): Content | undefined;
  /** Headers of replies with this status. `spec` is undefined for replies that any path may get. */
  headersOf(status: number, spec: EndpointSpec | undefined): Readonly<Record<string, Shape>>;
  securityOf(spec: EndpointSpec): readonly Security[];
  parametersOf(spec: EndpointSpec): readonly Parameter[];
}
