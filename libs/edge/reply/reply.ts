/** Text that comes bit by bit; it is asked for the next bit only when the reader has taken the last. */
export interface ReplyStream {
  readonly contentType: string;
  readonly chunks: AsyncIterable<string>;
}

export interface Reply {
  readonly status: number;
  /** An object, or JSON text that passes as it is. Text of another kind names it in `headers`, in lower case. */
  readonly body?: object | string;
  /** An `etag` among them is compared with what the caller says it holds. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly stream?: ReplyStream;
}

export function payloadOf(reply: Reply): string | undefined {
  return typeof reply.body === 'object' ? JSON.stringify(reply.body) : reply.body;
}

/** The error code of a refusal, for traces; undefined where it is none. */
export function codeOf({ status, body }: Pick<Reply, 'status' | 'body'>): string | undefined {
  if (status < 400) return undefined;
  return typeof body === 'string' ? /^\{"error":"([^"]*)"/.exec(body)?.[1] : undefined;
}

/** The flat envelope of every error. */
export function errorReply(status: number, error: string, message?: string): Reply {
  return { status, body: JSON.stringify(message === undefined ? { error } : { error, message }) };
}

export const NOT_FOUND = errorReply(404, 'not_found');
export const FORBIDDEN = errorReply(403, 'forbidden');
export const INTERNAL_HEADERS = errorReply(403, 'internal_routing_headers_forbidden');
export const UNSUPPORTED_MEDIA_TYPE = errorReply(415, 'unsupported_media_type');
export const PAYLOAD_TOO_LARGE = errorReply(413, 'payload_too_large');
export const INTERNAL_ERROR = errorReply(500, 'internal_error');
export const AUTHORITY_UNAVAILABLE = errorReply(503, 'owner_routing_unavailable');
/** What a peer gets that does not speak HTTP properly, or not in time. The contract leaves these to us. */
export const MALFORMED_REQUEST = errorReply(400, 'malformed_request');
export const UNSUPPORTED_TRANSFER_CODING = errorReply(501, 'unsupported_transfer_coding');
export const REQUEST_TIMEOUT = errorReply(408, 'request_timeout');
export const HEADERS_TOO_LARGE = errorReply(431, 'request_headers_too_large');
export const TOO_MANY_PIPELINED = errorReply(503, 'too_many_pipelined_requests');

export function unauthorized(message?: string): Reply {
  return { ...errorReply(401, 'unauthorized', message), headers: { 'www-authenticate': 'Bearer' } };
}

export function methodNotAllowed(methods: readonly string[]): Reply {
  return { ...errorReply(405, 'method_not_allowed'), headers: { allow: methods.join(', ') } };
}
