import {
  followed,
  type Header,
  type MediaType,
  type OpenApi,
  type OpenApiOperation,
  type Parameter,
  type Response,
} from '#libs/edge/documents/openapi-types.js';
import { documentedResponse, HttpRoutes } from './http-routes.js';
import type { ObservedExchange } from '#libs/client/api-client.js';
import { SchemaSet } from './schema-set.js';

/** Headers of the protocol, which no reader of the document needs. */
const TRANSPORT = new Set([
  'connection',
  'content-length',
  'content-type',
  'date',
  'keep-alive',
  'transfer-encoding',
]);
/** Headers that every client may send. `traceparent` comes from callers with traces of their own. */
const SENT_ANYWAY = new Set([
  'accept',
  'authorization',
  'connection',
  'content-length',
  'content-type',
  'expect',
  'host',
  'http2-settings',
  'traceparent',
  'transfer-encoding',
  'upgrade',
]);
/** Headers of WebSocket handshakes, which the other document describes. */
const HANDSHAKE = 'sec-websocket-';

/** Checks exchanges against the document, and notes which of its parts they have shown. */
export class HttpCheck {
  readonly shown = new Set<string>();
  private readonly routes: HttpRoutes;
  private readonly schemas: SchemaSet;
  private readonly credentials: ReadonlySet<string>;

  constructor(private readonly document: OpenApi) {
    this.routes = new HttpRoutes(document);
    this.schemas = new SchemaSet(document.components.schemas);
    this.credentials = credentialHeaders(document);
  }

  /** Deviations from the document, one line each. */
  faults(exchange: ObservedExchange): string[] {
    const { method, path, status } = exchange;
    const operation = this.routes.find(exchange);
    const response = documentedResponse(this.document, operation, status);
    const where = `${method} ${path.split('?', 1)[0] ?? ''} ${status}`;
    if (response === undefined) return [`${where}: no such answer ${exchange.body.slice(0, 120)}`];
    const owner = this.ownerOf(operation, status);
    this.shown.add(`${owner} ${status}`);
    const faults = [
      ...this.headerFaults(exchange, response, owner),
      ...this.bodyFaults(exchange, response, owner),
      ...(operation === undefined || status >= 400 ? [] : this.requestFaults(exchange, operation)),
    ];
    return faults.map((fault) => `${where}: ${fault}`);
  }

  /** Everything in the document that an exchange could show. */
  get parts(): string[] {
    const { paths, components } = this.document;
    const operations = Object.values(paths).flatMap((methods) => Object.values(methods));
    const ofOperations = operations.flatMap((operation) => [
      ...Object.entries(operation.responses).flatMap(([status, response]) =>
        '$ref' in response ? [] : this.ownParts(operation.operationId, status, response),
      ),
      ...operation.parameters
        .map((parameter) => followed<Parameter>(parameter, components.parameters))
        .filter((parameter) => parameter.name !== 'X-Request-Id')
        .map((parameter) => parameterPart(operation.operationId, parameter)),
    ]);
    const ofAnyPath = Object.entries(this.document['x-any-path']).flatMap(([status, response]) =>
      responseParts(ANY, status, followed<Response>(response, components.responses)),
    );
    const errors = new Set(['Error.error', 'Rejection.error', 'Rejection.message']);
    return [...ofOperations, ...ofAnyPath, ...this.schemas.parts.filter((part) => !errors.has(part))];
  }

  /** Codes that any path may return need not be shown by each operation. */
  private ownParts(operationId: string, status: string, response: Response): string[] {
    const common = documentedResponse(this.document, undefined, Number(status));
    const shared = new Set(common === undefined ? [] : responseParts(operationId, status, common));
    return responseParts(operationId, status, response).filter(
      (part) => part === `${operationId} ${status}` || !shared.has(part),
    );
  }

  /** Parts that many operations share may be shown by any of them. */
  private ownerOf(operation: OpenApiOperation | undefined, status: number): string {
    if (operation === undefined) return ANY;
    return '$ref' in (operation.responses[status] ?? {}) ? ANY : operation.operationId;
  }

  private headerFaults({ headers }: ObservedExchange, response: Response, owner: string): string[] {
    const documented = Object.entries(response.headers ?? {}).map(
      ([name, header]) => [name, followed<Header>(header, this.document.components.headers)] as const,
    );
    const names = new Set(documented.map(([name]) => name));
    const unknown = Object.keys(headers).filter((name) => !names.has(name) && !TRANSPORT.has(name));
    return [
      ...unknown.map((name) => `header ${name} is not documented`),
      ...documented.flatMap(([name, { required, schema }]) => {
        const value = headers[name];
        if (value === undefined) return required === true ? [`header ${name} is missing`] : [];
        this.shown.add(`${owner} header ${name}`);
        return this.schemas.faults(schema, value).map((fault) => `header ${name}: ${fault}`);
      }),
    ];
  }

  private bodyFaults(exchange: ObservedExchange, response: Response, owner: string): string[] {
    const { method, status, headers, body } = exchange;
    if (method === 'HEAD' || body === '') return [];
    const type = headers['content-type']?.split(';', 1)[0] ?? '';
    const media = response.content?.[type];
    if (media === undefined) return [`content type ${type} is not documented`];
    this.shown.add(`${owner} ${status} ${type}`);
    return valuesIn(type, body).flatMap((value) => this.valueFaults(media, value, `${owner} ${status}`));
  }

  private valueFaults({ schema }: MediaType, value: unknown, at: string): string[] {
    const faults = this.schemas.faults(schema, value);
    if (faults.length > 0) return faults;
    this.schemas.show(schema, value, at, this.shown);
    const error = codeOf(value);
    const [owner = '', status = ''] = at.split(' ');
    if (error !== undefined) for (const who of [owner, ANY]) this.shown.add(`${who} ${status} ${error}`);
    return [];
  }

  private requestFaults(
    { path, requestHeaders, requestBody }: ObservedExchange,
    operation: OpenApiOperation,
  ): string[] {
    const { operationId } = operation;
    const parameters = operation.parameters.map((parameter) =>
      followed<Parameter>(parameter, this.document.components.parameters),
    );
    const query = [...new URLSearchParams(path.split('?')[1] ?? '')].map(
      (pair) => ['query', ...pair] as const,
    );
    const headers = Object.entries(requestHeaders)
      .filter(
        ([name]) => !SENT_ANYWAY.has(name) && !this.credentials.has(name) && !name.startsWith(HANDSHAKE),
      )
      .map((pair) => ['header', ...pair] as const);
    const faults = [...query, ...headers].flatMap(([where, name, text]) => {
      const known = parameters.find(
        (parameter) => parameter.in === where && parameter.name.toLowerCase() === name.toLowerCase(),
      );
      // Callers may send an idempotency key with any request. It has no effect where none is documented.
      if (known === undefined && name === 'idempotency-key') return [];
      if (known === undefined) return [`${where} parameter ${name} is not documented`];
      this.shown.add(parameterPart(operationId, known));
      const ignoredIn = known.schema['x-ignored-in'];
      if (typeof ignoredIn === 'string' && requestHeaders.accept === ignoredIn) return [];
      const value = parameterValue(known.schema, text);
      return this.schemas.faults(known.schema, value).map((fault) => `${where} parameter ${name}: ${fault}`);
    });
    for (const parameter of parameters.filter((each) => each.in === 'path')) {
      this.shown.add(parameterPart(operationId, parameter));
    }
    return [...faults, ...this.requestBodyFaults(operation, requestBody)];
  }

  private requestBodyFaults(
    { requestBody: documented }: OpenApiOperation,
    sent: string | undefined,
  ): string[] {
    const schema = documented?.content['application/json']?.schema;
    if (sent === undefined || sent === '{}') return [];
    if (schema === undefined) return ['a body was taken and none is documented'];
    const value: unknown = JSON.parse(sent);
    const faults = this.schemas.faults(schema, value).map((fault) => `request: ${fault}`);
    if (faults.length === 0) this.schemas.show(schema, value, '', this.shown);
    return faults;
  }
}

const ANY = 'any';

function responseParts(owner: string, status: string, { headers = {}, content = {} }: Response): string[] {
  const own = Object.keys(headers).filter((name) => !('$ref' in (headers[name] ?? {})));
  const types = Object.keys(content);
  return [
    `${owner} ${status}`,
    ...own.map((name) => `${owner} header ${name}`),
    ...(types.length > 1 ? types.map((type) => `${owner} ${status} ${type}`) : []),
    ...Object.values(content).flatMap(({ schema }) =>
      codesIn(schema).map((code) => `${owner} ${status} ${code}`),
    ),
  ];
}

/** The code of a flat error, or of one with details. */
function codeOf(value: unknown): string | undefined {
  const { error, error_details: details } = (typeof value === 'object' && value !== null ? value : {}) as {
    readonly error?: string;
    readonly error_details?: { readonly code?: string };
  };
  return details?.code ?? error;
}

/** Header names in lower case, as they arrive. */
function credentialHeaders({ components }: OpenApi): ReadonlySet<string> {
  return new Set(
    Object.values(components.securitySchemes).flatMap(({ type, in: where, name }) => {
      if (type !== 'apiKey') return [];
      return where === 'header' ? [String(name).toLowerCase()] : ['cookie'];
    }),
  );
}

function parameterValue({ type }: Readonly<Record<string, unknown>>, text: string): unknown {
  if (type === 'array') return [text];
  if (type === 'boolean') return text === 'true';
  return type === 'integer' || type === 'number' ? Number(text) : text;
}

function codesIn(schema: Readonly<Record<string, unknown>>): readonly string[] {
  const { properties, oneOf = [] } = schema as {
    readonly properties?: {
      readonly error?: { readonly enum?: readonly string[] };
      readonly error_details?: {
        readonly properties?: { readonly code?: { readonly enum?: readonly string[] } };
      };
    };
    readonly oneOf?: readonly Readonly<Record<string, unknown>>[];
  };
  const detailed = properties?.error_details?.properties?.code?.enum ?? [];
  return [...(properties?.error?.enum ?? []), ...detailed, ...oneOf.flatMap(codesIn)];
}

function parameterPart(owner: string, { in: where, name }: Parameter): string {
  return `${owner} ${where} ${name}`;
}

function valuesIn(type: string, body: string): unknown[] {
  if (type === 'application/json') return [JSON.parse(body)];
  if (type !== 'application/x-ndjson') return [body];
  const lines = body.split('\n').filter((line) => line !== '');
  return lines.map((line): unknown => JSON.parse(line));
}
