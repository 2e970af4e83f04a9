/** What a user supplies to link an existing account at a venue. */
export interface Credentials {
  readonly key_id: string;
  readonly private_key_pem: string;
}

/** The credentials are unusable: the venue refused them, or they are malformed. */
export class CredentialsRefused extends Error {
  override readonly name = 'CredentialsRefused';
}
