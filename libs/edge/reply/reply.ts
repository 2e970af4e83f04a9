import { createHash } from 'node:crypto';

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

const TAG_CHARS = 22;

/** The strong tag of a text. */
export function entityTag(text: string): string {
  return `"${createHash('sha256').update(text).digest('base64url').slice(0, TAG_CHARS)}"`;
}

/** Whether `If-None-Match` names this tag (RFC 9110, 13.1.2: the comparison is the weak one). */
export function namesTag(ifNoneMatch: string | undefined, tag: string | undefined): boolean {
  if (ifNoneMatch === undefined || tag === undefined) return false;
  return ifNoneMatch
    .split(',')
    .map((named) => named.trim().replace(/^W\//, ''))
    .some((named) => named === '*' || named === tag);
}
