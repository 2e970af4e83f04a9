import type { LinkClient } from '#libs/link/link-client.js';
import type { VenueId } from '../rules/venues.js';

/** Initial shares of the vault's account at a practice venue. */
export interface PracticeShares {
  readonly market_id: string;
  readonly outcome: string;
  readonly amount: string;
}

/** Requests of gateways to the executor, the only process that uses users' credentials at venues. JSON as in `cell-protocol.ts`. */
export type ExecutorLinkRequest =
  /** Opens an account at the venue or uses the caller's own, has its credentials sealed, and then links it in the user's cell. */
  | {
      readonly op: 'link_venue';
      readonly request_id: string;
      readonly user_id: string;
      readonly venue: VenueId;
      readonly credentials?: { readonly key_id: string; readonly private_key_pem: string };
      /** The initial dollars of a new account at a practice venue. */
      readonly practice_credit?: string;
    }
  /** Opens the vault's own account at a practice venue once, with the dollars and shares of its ledger. */
  | {
      readonly op: 'open_vault';
      readonly request_id: string;
      readonly venue: VenueId;
      readonly practice_credit: string;
      readonly practice_shares: readonly PracticeShares[];
    }
  /** The account as the venue shows it now. 503 if it cannot be read. Reply: `AccountBalances`. */
  | {
      readonly op: 'account_balances';
      readonly request_id: string;
      readonly user_id: string;
      readonly venue: VenueId;
    }
  /** The vault's own account at the venue, for the proof of reserves. */
  | { readonly op: 'vault_balances'; readonly request_id: string; readonly venue: VenueId }
  /** The signer's numbers of keys and signatures. 503 if the signer does not answer. Reply: `SignerStatus`. */
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
