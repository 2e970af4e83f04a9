import type { Reply } from '#libs/edge/reply/reply.js';
import type { Provider } from '../rules/providers.js';

export interface ReplyTerms {
  /** The value of Cache-Control. Without it the reply must not be cached. */
  readonly cache?: string;
  /** The providers whose data the reply shows, for the freshness headers. */
  readonly providers?: Iterable<Provider>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly status?: number;
}

/** A reply with the providers whose data it shows. The dialect adds the freshness headers. */
export interface DataReply extends Reply {
  readonly shows: ReadonlySet<Provider>;
}

/** A reply with this body; status 200 unless the terms give another. */
export function dataReply(body: object | string, terms: ReplyTerms = {}): DataReply {
  return { ...termsOf(terms), body };
}

/** The same for a streamed body, which has no entity tag. */
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
