/** A live read failed: the venue cannot be reached, or its body is not valid. The caller gets an error, never a guess. */
export class LiveReadFailed extends Error {
  override readonly name = 'LiveReadFailed';

  constructor(
    reason: string,
    /** 429 if the venue asks for fewer requests. */
    readonly status: 429 | 502 = 502,
  ) {
    super(reason);
  }
}

/**
 * One market in the format of live reads: prices 0 to 1, sizes in contracts, times ISO 8601. Null for what the venue does not give.
 */
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

/** One trade of venue_a. */
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

/** One trade of venue_b. Its price is that of Yes. */
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

/** Live reads of one venue while a caller waits. Nothing goes into the journal. Rejects if the venue cannot be read. */
export interface LiveSource {
  /** Finds a market by market id, condition id, token id or ticker; undefined if the venue has no such market. */
  market(id: string): Promise<ShownMarket | undefined>;
  /** The newest trades of all these markets together, newest first. Unknown markets have none. */
  tradesOfA?(conditionIds: readonly string[], limit: number): Promise<readonly LiveTradeOfA[]>;
  /** Newest first. Undefined for an unknown ticker, and for a cursor that is not from this venue. */
  tradesOfB?(page: LivePageOfBRequest): Promise<LivePageOfB | undefined>;
}
