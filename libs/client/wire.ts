/** The JSON of the public API, written from the contract and independent of the service's code. */

export interface RouteView {
  readonly venue: string;
  readonly contract_id: string;
  readonly outcome: string;
  readonly title?: string;
}

export interface ContractView {
  readonly venue: string;
  readonly contract_id: string;
  readonly outcome: string;
  readonly title: string;
  readonly status: string;
}

export interface PartyJson {
  readonly alias?: string;
  readonly id?: string;
  readonly display_name?: string;
}

export interface QuoteJson {
  readonly quote_id: string;
  readonly auction_id: string;
  readonly revision: number;
  readonly status: string;
  readonly price_atoms: number;
  readonly quantity_atoms: number;
  readonly min_quantity_atoms: number;
  readonly expires_at?: string;
  readonly client_reference?: string;
  readonly submitted_at: string;
  readonly updated_at: string;
  readonly withdrawn_by?: string;
  readonly result?: {
    readonly awarded_quantity_atoms: number;
    readonly award_id?: string;
    readonly reason?: string;
    readonly rank?: number;
    readonly winning_price_atoms?: number;
  };
}

export interface AwardJson {
  readonly award_id: string;
  readonly market_maker?: PartyJson;
  readonly price_atoms: number;
  readonly quantity_atoms: number;
  readonly execution_status: string;
}

export interface AuctionJson {
  readonly auction_id: string;
  readonly role: 'ORIGINATOR' | 'MARKET_MAKER';
  readonly status: string;
  readonly phase: 'LIVE' | 'COMPLETED';
  readonly view_version: number;
  readonly routes: readonly RouteView[];
  readonly price_tick_atoms: number;
  readonly quantity_step_atoms: number;
  readonly opened_at: string;
  readonly closes_at: string;
  readonly closed_at?: string;
  readonly completed_at?: string;
  readonly audience?: { readonly invited_count: number; readonly market_maker_ids: readonly string[] };
  readonly originator?: PartyJson;
  readonly my_quote?: QuoteJson;
  /** The originator's award has a row for each maker; a maker's award is its own row. */
  readonly award?: Partial<AwardJson> & {
    readonly quantity_atoms: number;
    readonly average_price_atoms?: number;
    readonly awards?: readonly AwardJson[];
  };
  readonly cancellation?: {
    readonly cancelled_at: string;
    readonly cancelled_by?: string;
    readonly reason?: string;
  };
}

export interface TimelineEntryJson {
  readonly seq: number;
  readonly kind: string;
  readonly occurred_at: string;
  readonly actor: string;
  readonly data: Record<string, unknown>;
}

export interface TimelinePage {
  readonly auction_id: string;
  readonly role: string;
  readonly status: string;
  readonly complete: boolean;
  readonly events: readonly TimelineEntryJson[];
  readonly next_after_seq?: number;
}

export interface PreflightJson {
  readonly status: 'EXECUTABLE' | 'INSUFFICIENT_CAPACITY';
  readonly requested_quantity_atoms: string;
  readonly maximum_executable_quantity_atoms: string;
  readonly checked_at: string;
  readonly valid_until: string;
  readonly routes: readonly {
    readonly venue: string;
    readonly resource_type: string;
    readonly maximum_executable_quantity_atoms: string;
    readonly risk_source_sequence: string;
    readonly risk_valid_until: string;
    readonly authority_valid_until: string;
  }[];
}

export interface ErrorJson {
  readonly error: string;
  readonly message?: string;
}
