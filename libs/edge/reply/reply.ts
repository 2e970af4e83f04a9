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
