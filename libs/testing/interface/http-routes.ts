import {
  followed,
  type OpenApi,
  type OpenApiOperation,
  type Response,
} from '#libs/edge/documents/openapi-types.js';
import type { ObservedExchange } from '#libs/client/api-client.js';

export interface DocumentedRoute {
  readonly operation: OpenApiOperation;
  readonly method: string;
  readonly template: string;
  readonly segments: readonly string[];
}

/**
 * Finds the operation of a document for a request. A literal segment takes precedence over a parameter, whatever its methods are.
 */
export class HttpRoutes {
  private readonly routes: readonly DocumentedRoute[];

  constructor({ paths }: Pick<OpenApi, 'paths'>) {
    this.routes = Object.entries(paths)
      .flatMap(([template, methods]) =>
        Object.entries(methods).map(([method, operation]) => ({
          operation,
          method,
          template,
          segments: template.split('/'),
        })),
      )
      .sort((a, b) => namesIn(a) - namesIn(b));
  }

  find({ method, path }: Pick<ObservedExchange, 'method' | 'path'>): OpenApiOperation | undefined {
    const asked = (method === 'HEAD' ? 'GET' : method).toLowerCase();
    const segments = (path.split('?', 1)[0] ?? '').split('/');
    const fits = (route: DocumentedRoute): boolean =>
      route.segments.length === segments.length &&
      route.segments.every(
        (segment, at) => segment === segments[at] || (isName(segment) && segments[at] !== ''),
      );
    const template = this.routes.find(fits)?.template;
    return this.routes.find((route) => route.template === template && route.method === asked)?.operation;
  }
}

/** The documented response for a status: of the operation, or of any path without an operation. */
export function documentedResponse(
  { components, 'x-any-path': anyPath }: OpenApi,
  operation: OpenApiOperation | undefined,
  status: number,
): Response | undefined {
  const found = operation === undefined ? anyPath[status] : operation.responses[status];
  return found === undefined ? undefined : followed<Response>(found, components.responses);
}

function namesIn({ segments }: DocumentedRoute): number {
  return segments.filter(isName).length;
}

function isName(segment: string): boolean {
  return segment.startsWith('{');
}
