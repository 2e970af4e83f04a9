import type { IncomingHttpHeaders } from 'node:http';
import type { Decoded, Decoder, JsonSchema } from './decoding/decode.js';
import type { Answers } from './documents/answer.js';
import type { Query, QueryValues } from './decoding/query.js';
import type { Reply } from './reply/reply.js';

/** The caller according to the token. */
export interface Caller {
  readonly account_id: string;
  readonly roles: ReadonlySet<string>;
  readonly capabilities: ReadonlySet<string>;
}

/** One kind of id in a path, and the code for a malformed one. */
export interface IdKind {
  readonly fault: string;
  accepts(segment: string): boolean;
  /** In JSON Schema, for the interface documents. */
  describe?(): JsonSchema;
}

/** The declaration of one operation, for the dispatcher and for the interface documents. */
export interface EndpointSpec {
  readonly operationId: string;
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** A template such as `/v1/auctions/:auctionID`. Every name in it has an entry in `ids`. */
  readonly path: string;
  readonly access: 'public' | 'session';
  readonly capability?: string;
  /** Callers without this role get 404, as if the endpoint did not exist. */
  readonly role?: string;
  /** Callers without this role get 403, because the endpoint's existence is no secret. */
  readonly requiredRole?: string;
  /** Callers with an API key instead of a session are refused, if the dialect has API keys. */
  readonly sessionOnly?: true;
  readonly ids?: Readonly<Record<string, IdKind>>;
  /** Without it no parameters are allowed, except on public reads, which ignore them. */
  readonly query?: Query<unknown>;
  /** The part of its account's share that a read uses. By default 4 with a query, which reads a page, and 1 without. */
  readonly readWeight?: number;
  readonly body?: Decoder<object>;
  /** The name of this body in the interface documents, if several endpoints share it. */
  readonly bodyName?: string;
  /** Overrides the limit of the dialect. */
  readonly maxBodyBytes?: number;
  /** A missing body is invalid JSON here, even if the dialect allows it. */
  readonly absentBody?: 'refused';
  /** The code for JSON that does not fit this body. `invalid_json` by default. */
  readonly bodyFault?: string;
  /** `ignored`: a key is allowed and has no effect. Without a value the body has no such field. */
  readonly idempotency?: 'required' | 'ignored';
  /** The specification has no 503 here, so it becomes 500 `internal_error`. */
  readonly neverUnavailable?: true;
  /** The message of the 401, if the specification requires one. */
  readonly unauthorizedMessage?: string;
  /** A public endpoint that verifies the bearer token itself. */
  readonly checksToken?: true;
  readonly summary?: string;
  /** A longer description, in Markdown. */
  readonly description?: string;
  /** The reply for each status of success, for the interface documents. */
  readonly answers?: Answers;
  /** The codes of each status, for the interface documents. The edge's codes are derived from the other fields. */
  readonly statuses?: Readonly<Record<number, readonly string[]>>;
}

/** Facts about a command that came over a stream. */
export interface OverStream {
  readonly connectionId: string;
  /** After this moment the command is refused. */
  readonly notAfter?: string;
}

/** A request that has passed every check of the edge. */
export interface CallOf<S extends EndpointSpec> {
  readonly requestId: string;
  readonly principal: S['access'] extends 'session' ? Caller : undefined;
  /** As presented. On public endpoints it is not verified. */
  readonly bearerToken: string | undefined;
  readonly ids: { readonly [K in keyof NonNullable<S['ids']>]: string };
  readonly query: S extends { readonly query: infer Q } ? QueryValues<Q> : undefined;
  /** Without the idempotency key. */
  readonly body: S extends { readonly body: infer B } ? Decoded<B> : undefined;
  readonly idempotencyKey: S extends { readonly idempotency: 'required' } ? string : undefined;
  readonly accept: string | undefined;
  readonly remoteAddress: string | undefined;
  /** All headers. Absent for a command over a stream. */
  readonly headers?: IncomingHttpHeaders;
  /** Present only for a command over a stream. */
  readonly overStream?: OverStream;
}

/** A request without the types of its endpoint, for the dispatcher. */
export interface Call {
  readonly requestId: string;
  readonly principal: Caller | undefined;
  readonly bearerToken: string | undefined;
  readonly ids: Readonly<Record<string, string>>;
  readonly query: unknown;
  readonly body: object | undefined;
  readonly idempotencyKey: string | undefined;
  readonly accept: string | undefined;
  readonly remoteAddress: string | undefined;
  /** All headers. Absent for a command over a stream. */
  readonly headers?: IncomingHttpHeaders;
  /** Present only for a command over a stream. */
  readonly overStream?: OverStream;
}

export type Handler<S extends EndpointSpec> = (call: CallOf<S>) => Reply | Promise<Reply>;

export interface BoundEndpoint {
  readonly spec: EndpointSpec;
  /** The ids in its path, in order. */
  readonly idNames: readonly string[];
  /** A method and not a property, so that handlers may require the narrower call that the checks of `spec` guarantee. */
  handle(call: Call): Reply | Promise<Reply>;
}

/** Checks a declaration, and keeps its literal types, from which the types of its calls are derived. */
export function endpoint<const S extends EndpointSpec>(spec: S): S {
  for (const name of namesIn(spec.path)) {
    if (spec.ids?.[name] === undefined)
      throw new Error(`${spec.operationId}: the id ${name} is not declared`);
  }
  if (spec.idempotency !== undefined && spec.body === undefined) {
    throw new Error(`${spec.operationId}: an idempotency key needs a body`);
  }
  const needsCaller = [spec.capability, spec.role, spec.requiredRole].some(
    (requirement) => requirement !== undefined,
  );
  if (spec.access === 'public' && needsCaller) {
    throw new Error(`${spec.operationId}: roles and capabilities are not known on a public endpoint`);
  }
  return spec;
}

export function bind<S extends EndpointSpec>(spec: S, handle: Handler<S>): BoundEndpoint {
  return { spec, idNames: namesIn(spec.path), handle };
}

/** The path in OpenAPI's form: `/v1/auctions/{auctionID}`. */
export function templateOf(path: string): string {
  return path.replaceAll(/:(\w+)/g, '{$1}');
}

export function namesIn(path: string): string[] {
  return path
    .split('/')
    .filter((segment) => segment.startsWith(':'))
    .map((segment) => segment.slice(1));
}
