import type { Preset } from './scopes.js';

/** A key with everything that its check needs. Times are in milliseconds since 1970. */
export interface KnownKey {
  readonly client_id: string;
  readonly account_id: string;
  readonly scopes: readonly string[];
  readonly ip_allow_list: readonly string[];
  readonly orders_per_minute: number | null;
  readonly expires_at: number | null;
  readonly digest: Buffer;
  readonly previous_digest: Buffer | null;
  readonly previous_valid_until: number | null;
  readonly is_revoked: boolean;
  readonly version: number;
}

export const KNOWN_KEY = `
  client_id, account_id, scopes, ip_allow_list, orders_per_minute, digest, previous_digest,
  (extract(epoch from expires_at) * 1000)::float8 as expires_at,
  (extract(epoch from previous_valid_until) * 1000)::float8 as previous_valid_until,
  revoked_at is not null as is_revoked, version`;

/** A key as its owner sees it. */
export interface ListedKey {
  readonly client_id: string;
  readonly account_id: string;
  readonly name: string;
  readonly preset: Preset | null;
  readonly scopes: readonly string[];
  readonly ip_allow_list: readonly string[];
  readonly orders_per_minute: number | null;
  readonly expires_at: Date | null;
  readonly created_at: Date;
  readonly last_used_at: Date | null;
}

export const LISTED_KEYS = `
  select k.client_id, k.account_id, k.name, k.preset, k.scopes, k.ip_allow_list, k.orders_per_minute, k.expires_at,
    k.created_at, u.last_used_at
  from identity.api_keys k left join identity.api_key_uses u using (client_id)
  where k.revoked_at is null`;
