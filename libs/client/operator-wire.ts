/** The gateway's responses, with the members that the terminal shows. */

export interface ShardRowJson {
  readonly shard: number;
  readonly state: string;
  readonly epoch?: number;
  readonly journal_head?: number;
  readonly projection_lag_events?: number;
  readonly active_auctions?: number;
  readonly clock_offset_ms?: number;
  readonly recovery?: { readonly events: number; readonly ms: number };
}

export interface HaltTerms {
  readonly scope: string;
  readonly target?: string;
  readonly what: readonly string[];
}

export interface HaltJson extends HaltTerms {
  readonly halt_id: string;
  readonly reason: string;
  readonly by: string;
  readonly created_at: string;
}

/** An operator's account and name. The name is empty for an unknown account, and absent in halts from an older gateway. */
export interface Who {
  readonly by: string;
  readonly display_name?: string;
}

export interface ListedHaltJson extends HaltJson, Who {}

export interface ActionEntry extends Who {
  readonly at: string;
  readonly action: string;
  readonly target: string;
  /** In the form in which the entry was written. */
  readonly halt?: unknown;
  readonly outcome: string;
  readonly error?: string;
  readonly reason?: string;
}

export interface ActionPage {
  readonly actions: readonly ActionEntry[];
  readonly next_cursor?: string;
}

export interface Bucket {
  readonly bucket: string;
  readonly scope: string;
  readonly rate_per_second: number;
  readonly burst: number;
  readonly available?: number;
}

export interface ServiceLimits {
  readonly limits_factor: number;
  readonly buckets: readonly Bucket[];
  readonly bounds: Readonly<Record<string, number>>;
}

export interface AccountLimits {
  readonly account_id: string;
  readonly display_name: string;
  readonly suspended: boolean;
  readonly may_create: boolean;
  readonly may_quote: boolean;
  readonly entitled_venues: readonly string[];
  readonly max_quantity_atoms: number;
  readonly control_group?: string;
  readonly buckets: readonly Bucket[];
}
