import type { Pool, PoolClient } from 'pg';
import { CAPABILITIES, type Capability, type Role } from '../principal.js';
import { emailKey } from './email.js';

export interface NewUser {
  readonly accountId: string;
  readonly email: string;
  readonly displayName: string;
  /** From hashPassword(); many users may be given the same one. */
  readonly passwordHash: string;
  /** Without an enrolment a user can log in, but the auction service does not know it. */
  readonly enrolment?: {
    readonly roles: readonly Role[];
    /** Both, unless given. */
    readonly capabilities?: readonly Capability[];
  };
}

const ENTER = `
  with seed as (
    select * from jsonb_to_recordset($1) as s (account_id uuid, email text, email_key text, display_name text,
      password_hash text, enrolled boolean, roles text[], capabilities text[])
  ), entered as (
    insert into identity.users (account_id, email, email_key, display_name, password_hash)
    select account_id, email, email_key, display_name, password_hash from seed
    on conflict (account_id) do nothing
    returning account_id
  )
  insert into identity.enrolments (account_id, service, roles, capabilities)
  select account_id, 'AUCTION', roles, capabilities from seed join entered using (account_id) where enrolled`;

/**
 * Enters users, hundreds in one statement. An account that is known already stays as it is by now, its enrolment and its
 * password included; an address that belongs to another account is an error.
 */
export async function enrolUsers(client: Pool | PoolClient, users: readonly NewUser[]): Promise<void> {
  await client.query(ENTER, [JSON.stringify(users.map(recordOf))]);
}

function recordOf({ accountId, email, displayName, passwordHash, enrolment }: NewUser): object {
  const key = emailKey(email);
  if (key === undefined) throw new RangeError(`${JSON.stringify(email)} is no e-mail address`);
  return {
    account_id: accountId,
    email,
    email_key: key,
    display_name: displayName,
    password_hash: passwordHash,
    enrolled: enrolment !== undefined,
    roles: enrolment?.roles ?? [],
    capabilities: enrolment?.capabilities ?? CAPABILITIES,
  };
}
