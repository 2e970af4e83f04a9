import type { AuctionEventBody, QuoteTerms } from '../events.js';
import { heldAs, type Held } from '../held.js';
import type { Instant } from '#libs/base/instant.js';
import { lastQuotes, type AuctionState, type MakerBook, type Quote } from '../state.js';
import type { Terms } from '../terms.js';

type Submission = Extract<AuctionEventBody, { type: 'QUOTE_SUBMITTED' }>['data'];

/** What an active quote has besides its terms. */
interface QuoteContext {
  readonly at: Instant;
  readonly priority: number;
  readonly connection: string | undefined;
}

export function entered(
  state: AuctionState,
  { quote: terms, connection_id: connection }: Submission,
  at: Instant,
  position: number,
): AuctionState {
  const quote = quoteOf(state, terms, { at, priority: position, connection });
  return updateMaker(state, terms.maker, (quotes) => withExpired(quotes).concat([quote]));
}

export function revised(
  state: AuctionState,
  terms: QuoteTerms,
  at: Instant,
  position: number | undefined,
): AuctionState {
  return updateMaker(state, terms.maker, (quotes) =>
    changed(quotes, terms.quote_id, (quote) => {
      // A quote keeps the connection on which it was submitted, through all revisions.
      const { priority, connection_id: connection } = quote;
      return quoteOf(state, terms, { at, priority: position ?? priority, connection });
    }),
  );
}

/**
 * One fixed order of fields, optional ones last: with hundreds of thousands of quotes, all must have the same shape
 * in V8.
 */
function quoteOf(state: AuctionState, terms: QuoteTerms, { at, priority, connection }: QuoteContext): Quote {
  const { quote_id, revision, price_atoms, quantity_atoms, min_quantity_atoms, submitted_at } = terms;
  const { expires_at, client_reference } = terms;
  const quote: Quote = {
    quote_id,
    maker: sharedName(state.terms, terms.maker),
    revision,
    status: 'ACTIVE',
    price_atoms,
    quantity_atoms,
    min_quantity_atoms,
    // The event holds the same time twice; memory keeps one copy.
    submitted_at: submitted_at === at ? at : submitted_at,
    updated_at: at,
    priority,
    held: heldAs(terms.hold, heldBy(state)),
  };
  if (expires_at === undefined && client_reference === undefined && connection === undefined) return quote;
  return {
    ...quote,
    ...(expires_at === undefined ? {} : { expires_at }),
    ...(client_reference === undefined ? {} : { client_reference }),
    ...(connection === undefined ? {} : { connection_id: connection }),
  };
}

/** The maker's name from the terms, so that memory holds one copy of the text. */
function sharedName(terms: Terms, maker: string): string {
  return terms.audience.find(({ account_id: account }) => account === maker)?.account_id ?? maker;
}

function* heldBy(state: AuctionState): Generator<Held> {
  yield state.held;
  for (const { held } of lastQuotes(state)) yield held;
}

export function ended(
  state: AuctionState,
  { maker, quote_id: quoteId }: { readonly maker: string; readonly quote_id: string },
  ending: Partial<Quote>,
): AuctionState {
  return updateMaker(state, maker, (quotes) =>
    changed(quotes, quoteId, (quote) => ({ ...quote, ...ending })),
  );
}

export function rejectedOnce(state: AuctionState, maker: string): AuctionState {
  return updateMaker(state, maker, (quotes) => quotes);
}

/** The auction was cancelled or voided: active quotes are released. */
export function released(state: AuctionState, at: Instant): readonly MakerBook[] {
  return mapActive(state, (quote) => ({ ...quote, status: 'RELEASED', updated_at: at }));
}

export function mapActive(state: AuctionState, change: (quote: Quote) => Quote): readonly MakerBook[] {
  return state.books.map((book) => {
    const last = book.quotes.at(-1);
    return last?.status === 'ACTIVE' ? { ...book, quotes: book.quotes.with(-1, change(last)) } : book;
  });
}

/** Applies `change` to the quote with this id. It is usually the latest one. */
export function changed(
  quotes: readonly Quote[],
  quoteId: string,
  change: (quote: Quote) => Quote,
): readonly Quote[] {
  const index = quotes.findLastIndex((quote) => quote.quote_id === quoteId);
  const quote = quotes[index];
  return quote === undefined ? quotes : quotes.with(index, change(quote));
}

/** Each of a maker's own events is one timeline entry, so every call counts one. */
function updateMaker(
  state: AuctionState,
  maker: string,
  change: (quotes: readonly Quote[]) => readonly Quote[],
): AuctionState {
  const index = state.books.findIndex((book) => book.maker === maker);
  const book = state.books[index] ?? { maker: sharedName(state.terms, maker), quotes: [], quote_events: 0 };
  const after = { maker: book.maker, quotes: change(book.quotes), quote_events: book.quote_events + 1 };
  return { ...state, books: index < 0 ? state.books.concat([after]) : state.books.with(index, after) };
}

/**
 * Marks the last quote EXPIRED if it is still active. A maker may submit again only after its last quote is over,
 * so it must have expired without an event yet.
 */
function withExpired(quotes: readonly Quote[]): readonly Quote[] {
  const last = quotes.at(-1);
  if (last?.status !== 'ACTIVE') return quotes;
  return quotes.with(-1, { ...last, status: 'EXPIRED', updated_at: last.expires_at ?? last.updated_at });
}
