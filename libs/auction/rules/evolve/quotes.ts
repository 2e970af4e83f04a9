import type { AuctionEventBody, QuoteTerms } from '../events.js';
import { heldAs, type Held } from '../held.js';
import type { Instant } from '#libs/base/instant.js';
import { lastQuotes, type AuctionState, type MakerBook, type Quote } from '../state.js';
import type { Terms } from '../terms.js';

type Submission = Extract<AuctionEventBody, { type: 'QUOTE_SUBMITTED' }>['data'];

/** What a quote has besides its terms while it stands. */
interface Standing {
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
  return inBook(state, terms.maker, (quotes) => lapsed(quotes).concat([quote]));
}

export function revised(
  state: AuctionState,
  terms: QuoteTerms,
  at: Instant,
  position: number | undefined,
): AuctionState {
  return inBook(state, terms.maker, (quotes) =>
    changed(quotes, terms.quote_id, (quote) => {
      // A quote belongs to the connection that it was submitted on, however it is revised.
      const { priority, connection_id: connection } = quote;
      return quoteOf(state, terms, { at, priority: position ?? priority, connection });
    }),
  );
}

/** Written out, and optional fields last: of what is kept by the hundred thousand all must look alike. */
function quoteOf(state: AuctionState, terms: QuoteTerms, { at, priority, connection }: Standing): Quote {
  const { quote_id, revision, price_atoms, quantity_atoms, min_quantity_atoms, submitted_at } = terms;
  const { expires_at, client_reference } = terms;
  const quote: Quote = {
    quote_id,
    maker: nameIn(state.terms, terms.maker),
    revision,
    status: 'ACTIVE',
    price_atoms,
    quantity_atoms,
    min_quantity_atoms,
    // Told twice in the event, kept once.
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

/** The maker's name as the terms have it: the same text, kept once. */
function nameIn(terms: Terms, maker: string): string {
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
  const book = state.books[index] ?? { maker: nameIn(state.terms, maker), quotes: [], quote_events: 0 };
  const after = { maker: book.maker, quotes: change(book.quotes), quote_events: book.quote_events + 1 };
  return { ...state, books: index < 0 ? state.books.concat([after]) : state.books.with(index, after) };
}

/** A maker quotes anew only after its last quote is over; where that expired and nobody has said so yet, this says it. */
function lapsed(quotes: readonly Quote[]): readonly Quote[] {
  const last = quotes.at(-1);
  if (last?.status !== 'ACTIVE') return quotes;
  return quotes.with(-1, { ...last, status: 'EXPIRED', updated_at: last.expires_at ?? last.updated_at });
}
