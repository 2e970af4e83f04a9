/** What a user brings to have an account at a venue used. */
export interface Credentials {
  readonly key_id: string;
  readonly private_key_pem: string;
}

/** The venue, or a look at them, says that credentials are no good. */
export class CredentialsRefused extends Error {
  override readonly name = 'CredentialsRefused';
}
