import type { ProcessKindName } from '../../platform/processes/catalogue.js';

/** DATA_DIR/cluster.json as tools and tests may rely on it. */
export interface ClusterFile {
  readonly ready: boolean;
  readonly gateway_url: string;
  readonly database_url: string;
  readonly journal_table: string;
  readonly limits_factor: number;
  readonly processes: readonly ListedProcess[];
  readonly demo: {
    readonly password: string;
    readonly users: readonly ClusterUser[];
    readonly admin_secret?: string;
  };
  readonly contracts: readonly ClusterContract[];
  /** Only in a cluster that executes orders. */
  readonly execution_url?: string;
  /** Only in a cluster with market data. */
  readonly data_url?: string;
  readonly md_url?: string;
  readonly stream_url?: string;
  readonly practice?: {
    readonly admin_url: string;
    readonly venues: readonly {
      readonly exchange_id: string;
      readonly rest_url: string;
      readonly ws_url?: string;
    }[];
    readonly chains: readonly never[];
    readonly markets: readonly Readonly<Record<string, unknown>>[];
  };
}

export interface ListedProcess {
  readonly name: string;
  readonly kind: ProcessKindName | 'postgres';
  readonly pid: number;
  readonly health_url: string;
  readonly metrics_url: string;
  readonly url?: string;
}

export interface ClusterUser {
  readonly email: string;
  readonly account_id: string;
  readonly roles: readonly string[];
  readonly invited: boolean;
  readonly venue_b_user_id: string | null;
  readonly api_keys?: readonly {
    readonly name: string;
    readonly client_id: string;
    readonly api_key: string;
    readonly api_secret: string;
    readonly scopes: readonly string[];
    readonly ip_allow_list: readonly string[];
  }[];
}

export interface ClusterContract {
  readonly venue: string;
  readonly contract_id: string;
  readonly outcome: string;
  readonly price_tick_atoms: number;
  readonly quantity_step_atoms: number;
}
