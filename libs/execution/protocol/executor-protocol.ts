import type { LinkClient } from '#libs/link/link-client.js';
import type { VenueId } from '../rules/venues.js';

/** Shares with which the vault's account at a practice venue begins. */
export interface PracticeShares {
  readonly market_id: string;
  readonly outcome: string;
  readonly amount: string;
}

/** What gateways ask of the executor, which alone speaks to venues with users' credentials. JSON as in `cell-protocol.ts`. */
export type ExecutorLinkRequest =
  /** Opens an account at the venue or takes the caller's own, has its credentials sealed, and then tells the user's cell. */
  | {
      readonly op: 'link_venue';
      readonly request_id: string;
      readonly user_id: string;
      readonly venue: VenueId;
      readonly credentials?: { readonly key_id: string; readonly private_key_pem: string };
      /** Of a practice venue: with how many dollars a new account begins. */
      readonly practice_credit?: string;
    }
  /** Opens the vault's own account at a practice venue, with as many dollars and shares as its ledger says; once. */
  | {
      readonly op: 'open_vault';
      readonly request_id: string;
      readonly venue: VenueId;
      readonly practice_credit: string;
      readonly practice_shares: readonly PracticeShares[];
    }
  /** The account as the venue shows it now; 503 where it cannot be read. Reply: `AccountBalances`. */
  | {
      readonly op: 'account_balances';
      readonly request_id: string;
      readonly user_id: string;
      readonly venue: VenueId;
    }
  /** The vault's own account at the venue, for the proof of reserves. */
  | { readonly op: 'vault_balances'; readonly request_id: string; readonly venue: VenueId }
  /** How many keys the signer keeps, and what it has signed. Reply: `SignerStatus`; 503 where the signer does not answer. */
  | { readonly op: 'signer_status'; readonly request_id: string }
  | {
      readonly op: 'reset_breakers';
      readonly request_id: string;
      readonly venue: VenueId;
      readonly side?: string;
      readonly kind?: string;
      readonly time_in_force?: string;
    };

export type ExecutorLink = LinkClient<ExecutorLinkRequest>;
