import type { StreamClient } from '#libs/client/stream-client.js';
import type { HttpConnection } from './http-connection.js';
import type { QuoteAnswer, SendQuote } from './quote-ring.js';

type Quote = NonNullable<QuoteAnswer['quote']>;

/** Sends over the stream connections of the makers, in their order. */
export function overStreams(streams: readonly StreamClient[]): SendQuote {
  return async ({ maker, auctionId, quoteId, key, terms }) => {
    const stream = streams[maker];
    if (stream === undefined) throw new Error(`maker ${maker} has no connection`);
    const fields = { auction_id: auctionId, idempotency_key: key, ...terms };
    const answer = await (quoteId === undefined
      ? stream.command('quote.submit', fields)
      : stream.command('quote.revise', { ...fields, quote_id: quoteId }));
    const { status } = answer;
    return answer.type === 'ack'
      ? { status, quote: answer.result as Quote }
      : { status, error: answer.error };
  };
}

/** Sends over HTTP, each caller on a connection of its own. */
export function overHttp(connections: readonly HttpConnection[], tokens: readonly string[]): SendQuote {
  return async ({ maker, auctionId, quoteId, key, terms }, caller) => {
    const quotes = `/v1/auctions/${auctionId}/quotes`;
    const answer = await connections[caller]?.send({
      method: 'POST',
      path: quoteId === undefined ? quotes : `${quotes}/${quoteId}/revise`,
      headers: { authorization: `Bearer ${tokens[maker] ?? ''}`, 'idempotency-key': key },
      body: JSON.stringify(terms),
    });
    if (answer === undefined) throw new Error(`caller ${caller} has no connection`);
    const body = JSON.parse(answer.body) as Quote & { readonly error?: string };
    if (answer.status === 200 || answer.status === 201) return { status: answer.status, quote: body };
    return { status: answer.status, ...(body.error === undefined ? {} : { error: body.error }) };
  };
}
