import type { IncomingHttpHeaders } from 'node:http';
import type { SpanFacts } from '#libs/platform/tracing/tracing.js';

/**
 * One frame carries many requests `[[id, request], ...]` or many replies `[[id, status, body], ...]`. A traced request has its
 * W3C `traceparent` as third part; a peer that does not trace ignores it. A reply with id 0 is a notice.
 */
export const LINK_PATH = '/link';
export const NOTICE_ID = 0;
export const MAX_FRAME_BYTES = 8 * 1024 * 1024;
/** `true` from a peer that wants notices. */
export const NOTICES_HEADER = 'x-auction-notices';

/** The members of every request. Each service defines a union of its own requests. */
export interface LinkRequest {
  readonly op: string;
  readonly request_id?: string;
}

export interface LinkReply {
  readonly status: number;
  /** JSON text, which a gateway passes on unchanged. Empty if the status is enough. */
  readonly body: string;
}

/** The process that opened a link, with the headers that it sent then. */
export interface LinkPeer {
  readonly name: string;
  readonly headers: Readonly<IncomingHttpHeaders>;
}

export function reply(status: number, body: object): LinkReply {
  return { status, body: JSON.stringify(body) };
}

export function fault(status: number, error: string, message?: string): LinkReply {
  return reply(status, message === undefined ? { error } : { error, message });
}

/** The error code of a refusal, for metrics and traces. Undefined for a success. */
export function codeOf({ status, body }: LinkReply): string | undefined {
  return status < 400 ? undefined : (/"error":"([^"]*)"/.exec(body)?.[1] ?? 'unknown');
}

/** The attributes that the span of a request takes from its reply. */
export function factsOf(answer: LinkReply): SpanFacts {
  return { status: answer.status, code: codeOf(answer) };
}
