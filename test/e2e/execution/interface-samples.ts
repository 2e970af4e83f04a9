import { operationsOf } from '../../documents/described-parts.js';
import type { OpenApi } from '#libs/edge/documents/openapi-types.js';
import type { WalkCall } from './interface-walk.js';

/** The ids for path parameters. */
export interface SampleIds {
  readonly order_id: string;
  readonly client_id: string;
}

const VALUES: Readonly<Record<string, string>> = { exchange_id: 'venue_b', procedure: 'no.such.procedure' };

export interface SampledOperation extends Pick<WalkCall, 'method' | 'path'> {
  readonly operationId: string;
  readonly takesBody: boolean;
  readonly isPublic: boolean;
}

/** One request for every operation of the document, without its body. */
export function samplesOf(document: OpenApi, ids: SampleIds): readonly SampledOperation[] {
  const known: Readonly<Record<string, string>> = { ...VALUES, ...ids };
  const routes = Object.entries(document.paths).flatMap(([template, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ template, method, operation })),
  );
  if (routes.length !== operationsOf(document).length) throw new Error('operations are missing');
  return routes.map(({ template, method, operation }) => ({
    operationId: operation.operationId,
    method: method.toUpperCase(),
    path: template.replaceAll(/\{(\w+)\}/g, (_, name: string) => known[name] ?? ''),
    takesBody: operation.requestBody !== undefined,
    isPublic: operation.security.length === 0,
  }));
}
