import { heldAs, holdOf } from '../../rules/held.js';
import type { AuctionState, Quote } from '../../rules/state.js';
import type { Hold, Party, Route, Terms } from '../../rules/terms.js';

/** The pool is emptied at this size. Strings in use stay, but are no longer shared with new ones. */
const MAX_TEXTS = 100_000;

/**
 * Interns strings. Every decoded event has its own copies of the same few strings, and a shard keeps tens of thousands of
 * auctions. What several of them have in common is kept once.
 */
export class Sharing {
  private readonly texts = new Map<string, string>();

  /** Equal terms, with shared strings. */
  terms(terms: Terms): Terms {
    return {
      ...terms,
      allocation: this.text(terms.allocation),
      quote_revision_policy: this.text(terms.quote_revision_policy),
      result_disclosure: this.text(terms.result_disclosure),
      originator: this.party(terms.originator),
      routes: terms.routes.map((route) => this.route(route)),
      audience: terms.audience.map((party) => this.party(party)),
    };
  }

  /** An equal state with shared strings and holds, as if its events had been applied one by one. */
  state(state: AuctionState): AuctionState {
    const terms = this.terms(state.terms);
    const held = heldAs(this.hold(holdOf(state)));
    const shared = [held];
    const quoteOf = (quote: Quote): Quote => {
      const held = heldAs(holdOf(quote), shared);
      if (shared.every(({ keys }) => keys !== held.keys)) shared.push(held);
      return { ...quote, maker: this.text(quote.maker), held };
    };
    const books = state.books.map((book) => ({
      ...book,
      maker: this.text(book.maker),
      quotes: book.quotes.map(quoteOf),
    }));
    return { ...state, terms, held, books };
  }

  private hold(hold: readonly Hold[]): Hold[] {
    return hold.map(({ venue, resource, asset, amount }) => {
      return { venue: this.text(venue), resource: this.text(resource), asset: this.text(asset), amount };
    });
  }

  private party({ account_id: account, display_name: name, alias }: Party): Party {
    return { account_id: this.text(account), display_name: this.text(name), alias };
  }

  private route({ venue, contract_id: contract, outcome, title }: Route): Route {
    return {
      venue: this.text(venue),
      contract_id: this.text(contract),
      outcome: this.text(outcome),
      title: this.text(title),
    };
  }

  private text<Text extends string>(text: Text): Text {
    const shared = this.texts.get(text);
    if (shared !== undefined) return shared as Text;
    if (this.texts.size >= MAX_TEXTS) this.texts.clear();
    this.texts.set(text, text);
    return text;
  }
}
