import type { RawRoute } from '../oracle/raw-events.js';

/** An auction as its parties have heard of it. */
export interface KnownAuction {
  readonly id: string;
  readonly originator: string;
  readonly makers: readonly string[];
  readonly side: 'BUY' | 'SELL';
  readonly quantity: number;
  readonly tick: number;
  readonly step: number;
  readonly routes: readonly RawRoute[];
  /** The key of the create that has made it. */
  readonly key: string;
  /** Whether revisions have to better something and may worsen nothing. */
  readonly isImproveOnly: boolean;
}

export interface KnownQuote {
  readonly id: string;
  readonly auctionId: string;
  readonly maker: string;
  revision: number;
}

/** What people tell each other outside the system: which auctions there are, and their own quotes. */
export class Knowledge {
  readonly auctions: KnownAuction[] = [];
  readonly quotes: KnownQuote[] = [];

  quoteOf(auctionId: string, maker: string): KnownQuote | undefined {
    return this.quotes.findLast((quote) => quote.auctionId === auctionId && quote.maker === maker);
  }
}
