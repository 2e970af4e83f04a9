import type { RawRoute } from '../oracle/raw-events.js';

/** An auction as its parties know it. */
export interface KnownAuction {
  readonly id: string;
  readonly originator: string;
  readonly makers: readonly string[];
  readonly side: 'BUY' | 'SELL';
  readonly quantity: number;
  readonly tick: number;
  readonly step: number;
  readonly routes: readonly RawRoute[];
  /** The key of the create. */
  readonly key: string;
  /** Whether revisions must improve something and worsen nothing. */
  readonly isImproveOnly: boolean;
}

export interface KnownQuote {
  readonly id: string;
  readonly auctionId: string;
  readonly maker: string;
  revision: number;
}

/** What users tell each other outside the system: the auctions, and their own quotes. */
export class Knowledge {
  readonly auctions: KnownAuction[] = [];
  readonly quotes: KnownQuote[] = [];

  quoteOf(auctionId: string, maker: string): KnownQuote | undefined {
    return this.quotes.findLast((quote) => quote.auctionId === auctionId && quote.maker === maker);
  }
}
