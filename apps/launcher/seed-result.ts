import type { LoadAccounts } from './config.js';
import type { DemoTrading } from './demo/demo-accounts.js';

/** What the seed needs. It runs after the migrations and before any process starts. */
export interface SeedRequest {
  readonly databaseUrl: string;
  readonly loadAccounts: LoadAccounts | undefined;
  /** Hashes API keys. Absent where no service uses them. */
  readonly apiKeySecret?: string;
}

export interface DemoKeyTriple {
  readonly name: string;
  readonly client_id: string;
  readonly api_key: string;
  readonly api_secret: string;
  readonly scopes: readonly string[];
  readonly ip_allow_list: readonly string[];
}

export interface DemoUser {
  readonly email: string;
  readonly account_id: string;
  readonly roles: readonly string[];
  /** Whether the user may read market data. */
  readonly invited: boolean;
  readonly api_keys?: readonly DemoKeyTriple[];
  /** How the user starts at the venues. */
  readonly trading?: DemoTrading;
}

export interface DemoContract {
  readonly venue: string;
  readonly contract_id: string;
  readonly outcome: string;
  readonly price_tick_atoms: number;
  readonly quantity_step_atoms: number;
}

/** The same at every start, whether or not the rows existed. */
export interface SeedResult {
  readonly password: string;
  readonly users: readonly DemoUser[];
  readonly contracts: readonly DemoContract[];
}

export type Seed = (request: SeedRequest) => Promise<SeedResult>;
