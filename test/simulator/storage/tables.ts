/** Rows by key, each with the commit that last wrote it. */
export class Table<Row> {
  readonly rows = new Map<string, Row>();
  readonly versions = new Map<string, number>();
}

export interface PositionRow {
  readonly shard: number;
  readonly epoch: number;
  readonly sequence: number;
  readonly hash: string;
}

export interface StoredEvent {
  readonly auction_id: string;
  readonly sequence: number;
  readonly command_key: string | null;
  readonly payload: string;
}

export interface QuoteRow {
  readonly quote_id: string;
  readonly auction_id: string;
  readonly account_id: string;
  readonly submitted_at: string;
  readonly status: string;
  readonly view: string;
}

export interface AuctionRow {
  readonly auction_id: string;
  readonly opened_at: string;
  readonly completed_at: string | null;
  readonly sequence: number;
  readonly events: number;
  readonly status: string;
  readonly state: string;
}

export interface ViewerRow {
  readonly viewer_id: string;
  readonly auction_id: string;
  readonly opened_at: string;
  readonly is_originator: boolean;
  readonly shard: number;
  readonly sequence: number;
}

export interface AnswerRow {
  readonly account_id: string;
  readonly operation: string;
  readonly key: string;
  readonly shard: number;
  readonly sequence: number;
  readonly content: string;
  readonly status: number;
  readonly body: string;
}

export interface SettlementRow {
  readonly outcome: 'SETTLED' | 'FAILED';
  readonly reason: string | null;
  readonly venue: string | null;
  readonly asset: string | null;
  readonly delivered_atoms: number | null;
}

export interface BalanceRow {
  readonly account: string;
  readonly venue: string;
  readonly asset: string;
  readonly amount: number;
}

export interface EvidenceRow {
  readonly amount: number;
  readonly settled: number;
  readonly source_sequence: number;
}

export interface PolicyRow {
  readonly version: number;
  readonly protection: number;
  readonly contracts: number;
  readonly principals: number;
  readonly groups: number;
}

export interface ContractRow {
  readonly venue: string;
  readonly contract_id: string;
  readonly outcome: string;
  readonly title: string;
  readonly equivalence_id: string;
  readonly price_tick_atoms: number;
  readonly quantity_step_atoms: number;
  readonly status: string;
  readonly closes_at: string;
}

export interface PrincipalRow {
  readonly account_id: string;
  readonly display_name: string;
  readonly is_maker: boolean;
  readonly is_originator: boolean;
  readonly suspended: boolean;
  readonly may_create: boolean;
  readonly may_quote: boolean;
  readonly venues: readonly string[];
  readonly max_quantity_atoms: number;
  readonly control_group: string | null;
}

export interface GroupRow {
  readonly group_id: string;
  readonly owner: string;
  readonly name: string;
  readonly market_maker_ids: readonly string[];
}

export interface ProtectionRow {
  readonly window_ms: number;
  readonly max_awards: number;
  readonly max_award_notional_atoms: number;
  readonly frozen_ms: number;
}

/** The last record of a shard that the database knows. */
export interface WitnessRow {
  readonly epoch: number;
  readonly sequence: number;
  readonly hash: string;
  readonly offset: number;
}

/** An auction that its owner has forgotten. */
export interface HistoryRow {
  readonly auction_id: string;
  readonly shard: number;
  readonly positions: string;
}

export interface CountedRow {
  readonly account_id: string;
  readonly awarded_at: string;
  readonly notional_atoms: number;
}

/** All shared tables, with the keys of the real schemas. */
export class Tables {
  readonly positions = new Table<PositionRow>();
  /** The events of each auction, in order. */
  readonly events = new Table<readonly StoredEvent[]>();
  readonly quotes = new Table<QuoteRow>();
  readonly completed = new Table<AuctionRow>();
  readonly viewers = new Table<ViewerRow>();
  readonly answers = new Table<AnswerRow>();
  readonly settlements = new Table<SettlementRow>();
  readonly balances = new Table<BalanceRow>();
  readonly limits = new Table<BalanceRow>();
  readonly evidence = new Table<EvidenceRow>();
  /** What each shard has reserved, by key. */
  readonly reserved = new Table<readonly number[]>();
  readonly fences = new Table<number>();
  /** One row for each shard. */
  readonly witness = new Table<WitnessRow>();
  readonly histories = new Table<HistoryRow>();
  readonly policy = new Table<PolicyRow>();
  readonly contracts = new Table<ContractRow>();
  readonly principals = new Table<PrincipalRow>();
  readonly groups = new Table<GroupRow>();
  readonly protection = new Table<ProtectionRow>();
  readonly counted = new Table<CountedRow>();
  readonly frozen = new Table<string>();
}

export function keyOf(...parts: readonly (string | number)[]): string {
  return parts.join('\u0000');
}
