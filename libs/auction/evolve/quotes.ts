import type { AuctionEventBody, QuoteTerms } from '../events.js';
import type { Instant } from '../instant.js';
import type { AuctionState, MakerBook, Quote } from '../state.js';

type Submission = Extract<AuctionEventBody, { type: 'QUOTE_SUBMITTED' }>['data'];

export function entered(
  state: AuctionState,
  { quote: terms, connection_id: connection }: Submission,
  at: Instant,
  position: number,
): AuctionState {
  const quote: Quote = {
    ...terms,
    status: 'ACTIVE',
    updated_at: at,
    priority: position,
    ...over(connection),
  };
  return inBook(state, terms.maker, (quotes) => [...lapsed(quotes), quote]);
}

export function revised(
  state: AuctionState,
  terms: QuoteTerms,
  at: Instant,
  position: number | undefined,
): AuctionState {
  return inBook(state, terms.maker, (quotes) =>
    changed(quotes, terms.quote_id, ({ priority, connection_id: connection }) => ({
      ...terms,
      status: 'ACTIVE',
      updated_at: at,
      priority: position ?? priority,
      ...over(connection),
    })),
  );
}

/** A quote belongs to the connection that it was submitted on, however it is revised. */
function over(connection: string | undefined): Pick<Quote, 'connection_id'> {
  return connection === undefined ? {} : { connection_id: connection };
}

export function ended(
  state: AuctionState,
  { maker, quote_id: quoteId }: { readonly maker: string; readonly quote_id: string },
  ending: Partial<Quote>,
): AuctionState {
  return inBook(state, maker, (quotes) => changed(quotes, quoteId, (quote) => ({ ...quote, ...ending })));
}

export function rejectedOnce(state: AuctionState, maker: string): AuctionState {
  return inBook(state, maker, (quotes) => quotes);
}

/** The auction is off: quotes that stood are free. */
export function released(state: AuctionState, at: Instant): readonly MakerBook[] {
  return mapActive(state, (quote) => ({ ...quote, status: 'RELEASED', updated_at: at }));
}

export function mapActive(state: AuctionState, change: (quote: Quote) => Quote): readonly MakerBook[] {
  return state.books.map((book) => {
    const last = book.quotes.at(-1);
    return last?.status === 'ACTIVE' ? { ...book, quotes: book.quotes.with(-1, change(last)) } : book;
  });
}

/** The quote under this id, which is most often the latest one. */
export function changed(
  quotes: readonly Quote[],
  quoteId: string,
  change: (quote: Quote) => Quote,
): readonly Quote[] {
  const index = quotes.findLastIndex((quote) => quote.quote_id === quoteId);
  const quote = quotes[index];
  return quote === undefined ? quotes : quotes.with(index, change(quote));
}

/** Every event of a maker's own is one entry on its timeline, so its book counts it. */
function inBook(
  state: AuctionState,
  maker: string,
  change: (quotes: readonly Quote[]) => readonly Quote[],
): AuctionState {
  const index = state.books.findIndex((book) => book.maker === maker);
  const book = state.books[index] ?? { maker, quotes: [], quote_events: 0 };
  const after = { maker: book.maker, quotes: change(book.quotes), quote_events: book.quote_events + 1 };
  return { ...state, books: index < 0 ? [...state.books, after] : state.books.with(index, after) };
}

/** A maker quotes anew only after its last quote is over; where that expired and nobody has said so yet, this says it. */
function lapsed(quotes: readonly Quote[]): readonly Quote[] {
  const last = quotes.at(-1);
  if (last?.status !== 'ACTIVE') return quotes;
  return quotes.with(-1, { ...last, status: 'EXPIRED', updated_at: last.expires_at ?? last.updated_at });
}
