import type { IssuedKey, RotatedKey } from '#libs/identity/api-keys/api-key-service.js';
import type { ListedKey } from '#libs/identity/api-keys/api-key-rows.js';

export type WireRecord = Readonly<Record<string, unknown>>;

/** A key as callers see it. Absent fields are left out. */
export function keyRecord(key: ListedKey): WireRecord {
  return {
    client_id: key.client_id,
    name: key.name,
    ...(key.preset === null ? {} : { preset: key.preset }),
    scopes: key.scopes,
    ip_allow_list: key.ip_allow_list,
    ...(key.orders_per_minute === null ? {} : { orders_per_minute: key.orders_per_minute }),
    ...timeNamed('expires_at', key.expires_at),
    ...timeNamed('created_at', key.created_at),
    ...timeNamed('last_used_at', key.last_used_at),
  };
}

export function issuedRecord({ row, triple }: IssuedKey): WireRecord {
  return { ...keyRecord(row), api_key: triple.api_key, api_secret: triple.api_secret };
}

export function rotatedRecord(rotated: RotatedKey): WireRecord {
  return { ...issuedRecord(rotated), ...timeNamed('previous_valid_until', rotated.previous_valid_until) };
}

function timeNamed(name: string, time: Date | null): WireRecord {
  return time === null ? {} : { [name]: time.toISOString() };
}
