import { createHash } from 'node:crypto';

/** Text in pieces. The next piece is requested only when the reader has read the last one. */
export interface ReplyStream {
  readonly contentType: string;
  readonly chunks: AsyncIterable<string>;
}

export interface Reply {
  readonly status: number;
  /** An object, or JSON text that is sent unchanged. Other text needs a `content-type` in `headers`, in lower case. */
  readonly body?: object | string;
  /** An `etag` is compared with the caller's `If-None-Match`. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly stream?: ReplyStream;
}

export function payloadOf(reply: Reply): string | undefined {
  return typeof reply.body === 'object' ? JSON.stringify(reply.body) : reply.body;
}

const TAG_CHARS = 22;

/** The strong tag of a text. */
export function entityTag(text: string): string {
  return `"${createHash('sha256').update(text).digest('base64url').slice(0, TAG_CHARS)}"`;
}

/** True if `If-None-Match` contains this tag (RFC 9110, 13.1.2: weak comparison). */
export function namesTag(ifNoneMatch: string | undefined, tag: string | undefined): boolean {
  if (ifNoneMatch === undefined || tag === undefined) return false;
  const strong = withoutWeakness(tag);
  return ifNoneMatch
    .split(',')
    .map((candidate) => withoutWeakness(candidate.trim()))
    .some((candidate) => candidate === '*' || candidate === strong);
}

function withoutWeakness(tag: string): string {
  return tag.replace(/^W\//, '');
}
