import type { Instant } from '#libs/base/instant.js';
import type { VenueId } from '../rules/venues.js';

/** The user that owns the vault's accounts at the venues. */
export const VAULT_USER = 'system:vault';

/**
 * Requests of the executor to the signer, over a Unix socket. Numbers are decimal strings.
 * The signer itself makes the bytes to sign, and records them before it signs.
 */
export type SignerRequest =
  /**
   * Makes and seals a key for the user at the venue, and returns its account. A repeat returns the same key.
   * At venue e the account is the key's address. At venue b the account is empty until the venue has named it.
   */
  | { readonly op: 'create_key'; readonly user_id: string; readonly venue: VenueId }
  /** Venue b has registered the public key that was made here for this account. */
  | {
      readonly op: 'name_key';
      readonly user_id: string;
      readonly venue: 'venue_b';
      readonly account: string;
      readonly key_id: string;
    }
  /** Seals a key for venue b that came from the user or the venue. It replaces the former key. */
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

/** Venue b: RSA-PSS over time, method and path. The record of the signature also has the body's hash. */
export interface HeaderSigning extends OfSigning {
  readonly venue: 'venue_b';
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Without the query string. */
  readonly path: string;
  readonly timestamp_ms: string;
  readonly body_sha256: string;
}

/** Venue e: an exchange action. The agent signs it, or the account's own key if it authorizes the agent or sends money. */
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

/** A key and its account at the venue. It has no secrets. */
export interface SignerAccount {
  /** Empty until the venue has named it. */
  readonly account: string;
  /** At venue e: the address that signs orders. */
  readonly agent?: string;
  readonly key_id?: string;
  /** Set for keys of venue b that were made here. */
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

/** The signer refused or failed. Nothing was signed. */
export class SignerFailure extends Error {
  override readonly name = 'SignerFailure';

  constructor(
    readonly code: SignerFailureCode,
    message: string,
  ) {
    super(message);
  }
}

type WithoutOp<Request> = Omit<Request, 'op'>;

/** The signer, as its callers use it. Every method fails only with `SignerFailure`. */
export interface Signer {
  sign(request: WithoutOp<HeaderSigning>): Promise<SignedHeaders>;
  sign(request: WithoutOp<ActionSigning>): Promise<SignedAction>;
  createKey(user_id: string, venue: VenueId): Promise<SignerAccount>;
  nameKey(
    user_id: string,
    key: { readonly account: string; readonly key_id: string },
  ): Promise<SignerAccount>;
  storeKey(
    user_id: string,
    key: { readonly account: string; readonly key_id: string; readonly private_key_pem: string },
  ): Promise<SignerAccount>;
  /** Undefined if the user has no key for the venue. */
  accountOf(user_id: string, venue: VenueId): Promise<SignerAccount | undefined>;
  status(): Promise<SignerStatus>;
}
