import type { IncomingMessage } from 'node:http';
import type { Admitted } from '../admission.js';
import type { Connections } from '../connections.js';
import { MISMATCH, type Decoder } from '../decoding/decode.js';
import type { BoundEndpoint, Call, EndpointSpec } from '../endpoint.js';
import { idempotencyKey } from './idempotency-key.js';
import { queryFault, readQuery } from './query-rule.js';
import {
  INTERNAL_HEADERS,
  MALFORMED_REQUEST,
  PAYLOAD_TOO_LARGE,
  REQUEST_TIMEOUT,
  UNSUPPORTED_MEDIA_TYPE,
  errorReply,
  type Reply,
} from '../reply/reply.js';
import type { Exchange } from './reply-sender.js';
import { announcedBytes, announcesBody, readBody, type BodyOutcome } from './request-body.js';
import {
  awaitsContinue,
  carriesInternalHeader,
  isEncoded,
  isJsonContent,
  valuesOf,
} from './request-headers.js';
import type { ServerLimits } from '../server-limits.js';
import { parseJsonBytes, type JsonObject } from '../decoding/strict-json.js';

type Ids = Readonly<Record<string, string>>;

interface Content {
  readonly body: object | undefined;
  readonly idempotencyKey: string | undefined;
}

const NO_CONTENT: Content = { body: undefined, idempotencyKey: undefined };
const INVALID_JSON = errorReply(400, 'invalid_json');
const KEY_HEADER = 'idempotency-key';
const KEY_FIELD = 'idempotency_key';

/** The checks that follow admission: content type and encoding, size, ids and query, body, idempotency key, in this order. */
export class RequestReader {
  constructor(
    private readonly limits: ServerLimits,
    private readonly connections: Connections,
  ) {}

  /** Undefined when the client has gone and nobody is left to answer. */
  async read(exchange: Exchange, admitted: Admitted): Promise<Call | Reply | undefined> {
    const { request } = exchange;
    const { spec } = admitted.endpoint;
    if (!isReadable(request, spec)) return UNSUPPORTED_MEDIA_TYPE;
    if (announcedBytes(request) > this.limits.bodyBytes) return PAYLOAD_TOO_LARGE;
    const bytes = await this.bytesOf(exchange);
    if (!Buffer.isBuffer(bytes)) return refusalOf(bytes);
    // Trailers are known now and not before; none is ever read, but who sends such a one is told so as for a header.
    if (carriesInternalHeader(request.trailers)) return INTERNAL_HEADERS;

    const ids = readIds(admitted.endpoint, admitted.captured);
    if (isReply(ids)) return ids;
    const query = readQuery(spec, admitted.query);
    if (query === MISMATCH) return errorReply(400, queryFault(spec));
    const content =
      spec.body === undefined ? readNothing(bytes) : readContent(spec, spec.body, bytes, request);
    if (isReply(content)) return content;
    return {
      requestId: exchange.requestId,
      principal: admitted.principal,
      bearerToken: admitted.bearerToken,
      ids: ids.values,
      query,
      body: content.body,
      idempotencyKey: content.idempotencyKey,
      accept: request.headers.accept,
      remoteAddress: request.socket.remoteAddress,
    };
  }

  private bytesOf({ request, response }: Exchange): Promise<BodyOutcome> {
    if (awaitsContinue(request) && announcesBody(request)) response.writeContinue();
    return readBody(request, this.limits.bodyBytes, this.connections);
  }
}

/** A type describes nothing where no body is taken and none comes; an encoding is never undone. */
function isReadable(request: IncomingMessage, spec: EndpointSpec): boolean {
  if (isEncoded(request)) return false;
  return (spec.body === undefined && !announcesBody(request)) || isJsonContent(request);
}

function refusalOf(outcome: Exclude<BodyOutcome, Buffer>): Reply | undefined {
  switch (outcome) {
    case 'too-large':
      return PAYLOAD_TOO_LARGE;
    case 'timeout':
      return REQUEST_TIMEOUT;
    case 'malformed':
      return MALFORMED_REQUEST;
    case 'gone':
      return undefined;
  }
}

function readIds(
  { spec, idNames }: BoundEndpoint,
  captured: readonly string[],
): { readonly values: Ids } | Reply {
  const values: Record<string, string> = {};
  for (const [index, name] of idNames.entries()) {
    const kind = spec.ids?.[name];
    const segment = captured[index];
    if (kind === undefined || segment === undefined) throw new Error(`${spec.operationId} has no id ${name}`);
    if (!kind.accepts(segment)) return errorReply(400, kind.fault);
    values[name] = segment;
  }
  return { values };
}

/** Clients send `{}` where there is nothing to say. More than that was meant to be heeded, and would not be. */
function readNothing(bytes: Buffer): Content | Reply {
  if (bytes.length === 0) return NO_CONTENT;
  const parsed = parseJsonBytes(bytes);
  if (!parsed.ok) return errorReply(400, parsed.code);
  return Object.keys(parsed.value).length === 0 ? NO_CONTENT : INVALID_JSON;
}

function readContent(
  spec: EndpointSpec,
  kind: Decoder<object>,
  bytes: Buffer,
  request: IncomingMessage,
): Content | Reply {
  const parsed = parseJsonBytes(bytes);
  if (!parsed.ok) return errorReply(400, parsed.code);
  const { fields, keys } =
    spec.idempotency === undefined ? { fields: parsed.value, keys: [] } : split(parsed.value);
  if (keys === undefined) return INVALID_JSON;
  const body = kind.decode(fields);
  if (body === MISMATCH) return errorReply(400, spec.bodyFault ?? 'invalid_json');
  if (spec.idempotency !== 'required') return { body, idempotencyKey: undefined };
  const key = idempotencyKey([...valuesOf(request, KEY_HEADER), ...keys]);
  return typeof key === 'string' ? { body, idempotencyKey: key } : key;
}

/** The key travels in the body but is no part of the content; `keys` is undefined where it is no text. */
function split(value: JsonObject): {
  readonly fields: JsonObject;
  readonly keys: readonly string[] | undefined;
} {
  if (!Object.hasOwn(value, KEY_FIELD)) return { fields: value, keys: [] };
  const { [KEY_FIELD]: key, ...fields } = value;
  return { fields, keys: typeof key === 'string' ? [key] : undefined };
}

function isReply(outcome: object): outcome is Reply {
  return 'status' in outcome;
}
