import type { Dialect } from '../dialect/dialect.js';
import type { EndpointSpec } from '../endpoint.js';
import type { Manners } from './manners.js';
import type { Tag } from './openapi-types.js';

/** Recorded answers of one operation, by status, or by status and code: `201`, `409 quote_already_active`. */
export interface OperationExamples {
  readonly request?: unknown;
  readonly responses: Readonly<Record<string, unknown>>;
}

/** Everything in a document that no endpoint declares. */
export interface About {
  /** The dialect in which the service refuses. */
  readonly dialect: Dialect;
  readonly title: string;
  readonly version: string;
  readonly description: string;
  readonly tags: readonly Tag[];
  tagOf(spec: EndpointSpec): string;
  /** Meanings of codes, for the descriptions of refusals. */
  readonly codes: Readonly<Record<string, string>>;
  /** Descriptions of fields and parameters, by name or by `Schema.name`. A shape's own description takes precedence. */
  readonly fields: Readonly<Record<string, string>>;
  /** Refusals with these statuses have a message. */
  readonly explained: ReadonlySet<number>;
  readonly sessionScheme: string;
  /** Only for a service that differs from the others. */
  readonly manners?: Manners;
  examplesOf(operationId: string): OperationExamples | undefined;
}

/** The key of the examples of replies to any path. */
export const ANYWHERE = 'anywhere';
