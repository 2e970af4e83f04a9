import type { Reply } from '#libs/edge/reply/reply.js';
import type { Provider } from '../rules/providers.js';

export interface ReplyTerms {
  /** The value of Cache-Control; without it the reply may not be kept. */
  readonly cache?: string;
  /** Whose data the reply shows, for the headers of freshness. */
  readonly providers?: Iterable<Provider>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly status?: number;
}

/** A reply that says whose data it shows. The dialect adds how fresh those are. */
export interface DataReply extends Reply {
  readonly shows: ReadonlySet<Provider>;
}

/** 200 with this body, unless the terms say otherwise. */
export function dataReply(body: object | string, terms: ReplyTerms = {}): DataReply {
  return { ...termsOf(terms), body };
}

/** The same for a body in pieces, which has no entity tag. */
export function streamedReply(chunks: AsyncIterable<string>, terms: ReplyTerms = {}): DataReply {
  return { ...termsOf(terms), stream: { contentType: 'application/json; charset=utf-8', chunks } };
}

export function shownIn(reply: Reply): ReadonlySet<Provider> | undefined {
  return isDataReply(reply) ? reply.shows : undefined;
}

function termsOf({ cache, providers = [], headers = {}, status = 200 }: ReplyTerms): DataReply {
  return {
    status,
    headers: { ...(cache === undefined ? {} : { 'cache-control': cache }), ...headers },
    shows: new Set(providers),
  };
}

function isDataReply(reply: Reply): reply is DataReply {
  return 'shows' in reply;
}
