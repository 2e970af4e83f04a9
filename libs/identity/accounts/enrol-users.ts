import type { Pool, PoolClient } from 'pg';
import { requireKnown, type ServiceCatalogue } from '../principal.js';
import { emailKey } from './email.js';

export interface NewUser {
  readonly accountId: string;
  readonly email: string;
  readonly displayName: string;
  /** From hashPassword(). Many users may share one hash. */
  readonly passwordHash: string;
  /** Without an enrolment the user can log in, but has no access to the service. */
  readonly enrolment?: {
    readonly roles: readonly string[];
    /** All capabilities of the service by default. */
    readonly capabilities?: readonly string[];
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
  select account_id, $2, roles, capabilities from seed join entered using (account_id) where enrolled`;

/**
 * Enters users and enrols them in one service, hundreds with one statement. An existing account stays unchanged, with its
 * enrolment and password. An address of another account is an error.
 */
export async function enrolUsers(
  client: Pool | PoolClient,
  users: readonly NewUser[],
  catalogue: ServiceCatalogue,
): Promise<void> {
  const records = users.map((user) => recordOf(user, catalogue));
  await client.query(ENTER, [JSON.stringify(records), catalogue.service]);
}

const ENROL = `
  insert into identity.enrolments (account_id, service, roles, capabilities)
  select account_id, $2, roles, '{}' from jsonb_to_recordset($1) as s (account_id uuid, roles text[])
  on conflict (account_id, service) do nothing`;

/** Enrols existing users in one more service. Users that are already enrolled there stay unchanged. */
export async function enrolKnown(
  client: Pool | PoolClient,
  users: readonly { readonly accountId: string; readonly roles: readonly string[] }[],
  catalogue: ServiceCatalogue,
): Promise<void> {
  for (const { roles } of users) requireKnown(catalogue, { roles, capabilities: [] });
  const records = users.map(({ accountId, roles }) => ({ account_id: accountId, roles }));
  await client.query(ENROL, [JSON.stringify(records), catalogue.service]);
}

function recordOf(
  { accountId, email, displayName, passwordHash, enrolment }: NewUser,
  catalogue: ServiceCatalogue,
): object {
  const key = emailKey(email);
  if (key === undefined) throw new RangeError(`${JSON.stringify(email)} is no e-mail address`);
  const { roles = [], capabilities = catalogue.capabilities } = enrolment ?? {};
  requireKnown(catalogue, { roles, capabilities });
  return {
    account_id: accountId,
    email,
    email_key: key,
    display_name: displayName,
    password_hash: passwordHash,
    enrolled: enrolment !== undefined,
    roles,
    capabilities,
  };
}
