import type { Instant } from '#libs/base/instant.js';
import type { VenueId } from '../rules/venues.js';

/**
 * What the executor asks of the signer, over a Unix socket. Requests are typed: the signer makes the bytes to be signed itself, writes
 * down what it signs, and only then signs. Numbers are decimal strings.
 */
export type SignerRequest =
  /** Makes a key for the user at the venue, and seals it. `account` of b is the venue's own name of it; of e the address, made here. */
  | { readonly op: 'create_key'; readonly user_id: string; readonly venue: VenueId }
  /** Seals a key that the user has brought, or the venue has given. */
  | {
      readonly op: 'store_key';
      readonly user_id: string;
      readonly venue: VenueId;
      readonly account: string;
      readonly key_id: string;
      readonly private_key_pem: string;
    }
  | { readonly op: 'account_of'; readonly user_id: string; readonly venue: VenueId }
  | SignRequest
  | { readonly op: 'status' };

/** The purpose says what the policy allows; `order_id` ties a signature to the order that needs it. */
export type SignRequest = {
  readonly op: 'sign';
  readonly user_id: string;
  readonly order_id?: string;
} &
  /** Venue b: RSA-PSS over time, method and path. The body is hashed into the written record. */
  (
    | {
        readonly venue: 'venue_b';
        readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
        readonly path: string;
        readonly timestamp_ms: string;
        readonly body_sha256: string;
      }
    /** Venue e: an action of the exchange, signed by the agent, or by the account's own key where it authorizes the agent or sends money. */
    | {
        readonly venue: 'venue_e';
        readonly by: 'agent' | 'account';
        readonly action: Readonly<Record<string, unknown>>;
        readonly nonce: string;
        readonly expires_after?: string;
      }
  );

export type SignerReply =
  | {
      readonly ok: true;
      readonly signed_at: Instant;
      readonly headers?: Readonly<Record<string, string>>;
      readonly signature?: { readonly r: string; readonly s: string; readonly v: number };
    }
  | { readonly ok: true; readonly account: string; readonly agent?: string; readonly key_id?: string }
  | {
      readonly ok: false;
      readonly code: 'SIGNER_REFUSED' | 'SIGNER_UNAVAILABLE' | 'NOT_LINKED';
      readonly message: string;
    };
