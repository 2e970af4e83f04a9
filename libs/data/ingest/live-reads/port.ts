/** A venue that holds too little to answer: it cannot be reached, or its body cannot be read. The caller gets no guess. */
export class LiveReadFailed extends Error {
  override readonly name = 'LiveReadFailed';

  constructor(
    reason: string,
    /** 429 where the venue bids to ask less often. */
    readonly status: 429 | 502 = 502,
  ) {
    super(reason);
  }
}

/** One market as live reads give it: prices 0 to 1, sizes in contracts, times ISO 8601; null where the venue says nothing. */
export interface ShownMarket {
  readonly id: string;
  readonly title: string | null;
  readonly description: string | null;
  readonly rules_primary: string | null;
  readonly rules_secondary: string | null;
  readonly rules_source: string | null;
  readonly tick_size: number | null;
  readonly min_price: number | null;
  readonly max_price: number | null;
  readonly lot_size: number | null;
  readonly quote_currency: string | null;
  readonly expires_at: string | null;
  readonly icon: string | null;
  readonly banner: string | null;
  readonly url: string | null;
  readonly active: boolean | null;
  readonly outcomes: readonly ShownOutcome[];
  readonly event_id: string | null;
  readonly event_name: string | null;
}

export interface ShownOutcome {
  readonly label: string;
  readonly token_id: string | null;
  readonly price: number | null;
}

/** One trade of A. */
export interface LiveTradeOfA {
  readonly proxyWallet: string | null;
  readonly side: 'BUY' | 'SELL' | null;
  /** The token id. */
  readonly asset: string | null;
  readonly conditionId: string;
  readonly size: number;
  readonly price: number;
  /** Unix seconds. */
  readonly timestamp: number;
  readonly outcome: string;
  readonly outcomeIndex: number;
  readonly transactionHash: string | null;
}

/** One trade of B. Its price is that of yes. */
export interface LiveTradeOfB {
  readonly trade_id: string;
  readonly ticker: string;
  readonly price: number;
  readonly count: number;
  readonly taker_side: 'yes' | 'no';
  readonly created_time: string;
}

export interface LivePageOfB {
  readonly trades: readonly LiveTradeOfB[];
  /** Empty on the last page. */
  readonly cursor: string;
}

export interface LivePageOfBRequest {
  readonly ticker: string;
  readonly limit: number;
  readonly cursor?: string;
}

/** What one venue answers while a caller waits. Nothing of it enters the journal. Rejects where the venue cannot be read. */
export interface LiveSource {
  /** By market id, condition id, token id or ticker; undefined where the venue has no such market. */
  market(id: string): Promise<ShownMarket | undefined>;
  /** Newest first, of all these markets together; unknown ones have none. */
  tradesOfA?(conditionIds: readonly string[], limit: number): Promise<readonly LiveTradeOfA[]>;
  /** Newest first. Undefined for an unknown ticker, and for a cursor that this venue did not give. */
  tradesOfB?(page: LivePageOfBRequest): Promise<LivePageOfB | undefined>;
}
