import type { IncomingHttpHeaders } from 'node:http';
import type { Decoded, Decoder, JsonSchema } from './decoding/decode.js';
import type { Answers } from './documents/answer.js';
import type { Query, QueryValues } from './decoding/query.js';
import type { Reply } from './reply/reply.js';

/** The caller, as the token says. */
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

/** One operation, declared once; the dispatcher and the interface documents both read it. */
export interface EndpointSpec {
  readonly operationId: string;
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** A template such as `/v1/auctions/:auctionID`; every name in it has an entry in `ids`. */
  readonly path: string;
  readonly access: 'public' | 'session';
  readonly capability?: string;
  /** To callers without this role the endpoint does not exist. */
  readonly role?: string;
  /** Callers without this role are refused: the endpoint's existence is no secret. */
  readonly requiredRole?: string;
  /** Callers with a key instead of a session are refused, if the dialect knows keys. */
  readonly sessionOnly?: true;
  readonly ids?: Readonly<Record<string, IdKind>>;
  /** Without a query no parameters may be given, except to public reads, which ignore them. */
  readonly query?: Query<unknown>;
  /** The part of its account's share that a read uses. By default 4 with a query, which reads a page, and 1 without. */
  readonly readWeight?: number;
  readonly body?: Decoder<object>;
  /** The name of this body in the interface documents, if several endpoints share it. */
  readonly bodyName?: string;
  /** Another limit than the dialect's. */
  readonly maxBodyBytes?: number;
  /** Here a missing body is invalid JSON, whatever the dialect says. */
  readonly absentBody?: 'refused';
  /** The code for JSON that does not fit this body; `invalid_json` by default. */
  readonly bodyFault?: string;
  /** `ignored`: a key may be given and has no effect. Without either, the body has no such field. */
  readonly idempotency?: 'required' | 'ignored';
  /** The specification has no 503 here: it becomes 500 `internal_error`. */
  readonly neverUnavailable?: true;
  /** Set only if the specification wants the 401 explained. */
  readonly unauthorizedMessage?: string;
  /** A public endpoint that verifies the bearer token itself. */
  readonly checksToken?: true;
  readonly summary?: string;
  /** A longer description, in Markdown. */
  readonly description?: string;
  /** The reply for each status that is no refusal, for the interface documents. */
  readonly answers?: Answers;
  /** The possible codes of each status, for the interface documents; the codes of the edge follow from the rest. */
  readonly statuses?: Readonly<Record<number, readonly string[]>>;
}

/** What a command over a stream has besides. */
export interface OverStream {
  readonly connectionId: string;
  /** After this moment the command is refused. */
  readonly notAfter?: string;
}

/** A request that has passed every check of the edge. */
export interface CallOf<S extends EndpointSpec> {
  readonly requestId: string;
  readonly principal: S['access'] extends 'session' ? Caller : undefined;
  /** As presented; on public endpoints it is not verified. */
  readonly bearerToken: string | undefined;
  readonly ids: { readonly [K in keyof NonNullable<S['ids']>]: string };
  readonly query: S extends { readonly query: infer Q } ? QueryValues<Q> : undefined;
  /** Without the idempotency key. */
  readonly body: S extends { readonly body: infer B } ? Decoded<B> : undefined;
  readonly idempotencyKey: S extends { readonly idempotency: 'required' } ? string : undefined;
  readonly accept: string | undefined;
  readonly remoteAddress: string | undefined;
  /** All headers; a command over a stream has none. */
  readonly headers?: IncomingHttpHeaders;
  /** Only for a command over a stream. */
  readonly overStream?: OverStream;
}

/** Any request, for the dispatcher: only the handler knows the types of its endpoint. */
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
  /** All headers; a command over a stream has none. */
  readonly headers?: IncomingHttpHeaders;
  /** Only for a command over a stream. */
  readonly overStream?: OverStream;
}

export type Handler<S extends EndpointSpec> = (call: CallOf<S>) => Reply | Promise<Reply>;

export interface BoundEndpoint {
  readonly spec: EndpointSpec;
  /** The ids in its path, in order. */
  readonly idNames: readonly string[];
  /** A method, not a property: it accepts the narrower call that the checks of `spec` guarantee. */
  handle(call: Call): Reply | Promise<Reply>;
}

/** Keeps the literal types of a declaration, from which the types of its call follow. */
export function endpoint<const S extends EndpointSpec>(spec: S): S {
  for (const name of namesIn(spec.path)) {
    if (spec.ids?.[name] === undefined) throw new Error(`${spec.operationId}: nothing says what ${name} is`);
  }
  if (spec.idempotency !== undefined && spec.body === undefined) {
    throw new Error(`${spec.operationId}: an idempotency key needs a body to belong to`);
  }
  const asksWhoCalls = [spec.capability, spec.role, spec.requiredRole].some((asked) => asked !== undefined);
  if (spec.access === 'public' && asksWhoCalls) {
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
