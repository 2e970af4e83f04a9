import type { Instant } from '#libs/base/instant.js';
import type { VenueId } from '../rules/venues.js';

/** The user whose accounts at the venues are the vault's own. */
export const VAULT_USER = 'system:vault';

/**
 * What the executor asks of the signer, over a Unix socket. Requests are typed: the signer makes the bytes to be signed itself, writes
 * down what it signs, and only then signs. Numbers are decimal strings.
 */
export type SignerRequest =
  /**
   * Makes a key for the user at the venue, seals it, and tells the account; on repetition the same one. Of e the account is the key's
   * address; of b it has no account until the venue has named it.
   */
  | { readonly op: 'create_key'; readonly user_id: string; readonly venue: VenueId }
  /** The venue has taken the public key of b that was made here, as the key of this account. */
  | {
      readonly op: 'name_key';
      readonly user_id: string;
      readonly venue: 'venue_b';
      readonly account: string;
      readonly key_id: string;
    }
  /** Seals a key of b that the user has brought, or the venue has given; it replaces what was there. */
  | {
      readonly op: 'store_key';
      readonly user_id: string;
      readonly venue: 'venue_b';
      readonly account: string;
      readonly key_id: string;
      readonly private_key_pem: string;
    }
  | { readonly op: 'account_of'; readonly user_id: string; readonly venue: VenueId }
  | SignRequest
  | { readonly op: 'status' };

interface OfSigning {
  readonly op: 'sign';
  readonly user_id: string;
  /** Ties the signature to the order that needs it. */
  readonly order_id?: string;
}

/** Venue b: RSA-PSS over time, method and path. The body's hash goes into the written record. */
export interface HeaderSigning extends OfSigning {
  readonly venue: 'venue_b';
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Without its query. */
  readonly path: string;
  readonly timestamp_ms: string;
  readonly body_sha256: string;
}

/** Venue e: an action of the exchange, signed by the agent, or by the account's own key where it authorizes the agent or sends money. */
export interface ActionSigning extends OfSigning {
  readonly venue: 'venue_e';
  readonly by: 'agent' | 'account';
  readonly action: Readonly<Record<string, unknown>>;
  readonly nonce: string;
  readonly expires_after?: string;
}

export type SignRequest = HeaderSigning | ActionSigning;

export interface SignedHeaders {
  readonly signed_at: Instant;
  readonly headers: Readonly<Record<string, string>>;
}

export interface SignedAction {
  readonly signed_at: Instant;
  readonly signature: { readonly r: string; readonly s: string; readonly v: number };
}

/** A key and its account at the venue. Nothing of it is secret. */
export interface SignerAccount {
  /** Empty while the venue has not named it. */
  readonly account: string;
  /** Of e: the address that signs orders. */
  readonly agent?: string;
  readonly key_id?: string;
  /** Of a key of b that was made here. */
  readonly public_key_pem?: string;
}

export interface SignerStatus {
  readonly keys: number;
  readonly signatures: number;
}

export type SignerFailureCode = 'SIGNER_REFUSED' | 'SIGNER_UNAVAILABLE' | 'NOT_LINKED';

export type SignerReply =
  | ({ readonly ok: true } & (SignedHeaders | SignedAction | SignerAccount | SignerStatus))
  | { readonly ok: false; readonly code: SignerFailureCode; readonly message: string };

/** Nothing was signed. */
export class SignerFailure extends Error {
  override readonly name = 'SignerFailure';

  constructor(
    readonly code: SignerFailureCode,
    message: string,
  ) {
    super(message);
  }
}

type Asked<Request> = Omit<Request, 'op'>;

/** The signer as its callers have it. Everything fails with `SignerFailure` alone. */
export interface Signer {
  sign(request: Asked<HeaderSigning>): Promise<SignedHeaders>;
  sign(request: Asked<ActionSigning>): Promise<SignedAction>;
  createKey(user_id: string, venue: VenueId): Promise<SignerAccount>;
  nameKey(
    user_id: string,
    key: { readonly account: string; readonly key_id: string },
  ): Promise<SignerAccount>;
  storeKey(
    user_id: string,
    key: { readonly account: string; readonly key_id: string; readonly private_key_pem: string },
  ): Promise<SignerAccount>;
  /** Undefined: no key is kept for the user there. */
  accountOf(user_id: string, venue: VenueId): Promise<SignerAccount | undefined>;
  status(): Promise<SignerStatus>;
}
