import type { LoadAccounts } from './config.js';
import type { DemoTrading } from './demo/demo-accounts.js';

/** What the seed has to know; it runs once the migrations are done and before any process starts. */
export interface SeedRequest {
  readonly databaseUrl: string;
  readonly loadAccounts: LoadAccounts | undefined;
  /** Under which API keys are hashed. Absent where nothing knows such keys. */
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
  /** To market data. */
  readonly invited: boolean;
  readonly api_keys?: readonly DemoKeyTriple[];
  /** How it begins at the venues. */
  readonly trading?: DemoTrading;
}

export interface DemoContract {
  readonly venue: string;
  readonly contract_id: string;
  readonly outcome: string;
  readonly price_tick_atoms: number;
  readonly quantity_step_atoms: number;
}

/** The same at every start, whether the rows had to be made or were there. */
export interface SeedResult {
  readonly password: string;
  readonly users: readonly DemoUser[];
  readonly contracts: readonly DemoContract[];
}

export type Seed = (request: SeedRequest) => Promise<SeedResult>;
