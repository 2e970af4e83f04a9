import type { Pool, PoolClient } from 'pg';
import type { Clock } from '#libs/platform/time/clock.js';
import { epochSeconds } from '../epoch.js';
import { requireKnown, type ServiceCatalogue } from '../principal.js';
import { emailKey } from './email.js';

/** A user as one service sees it, also if it is disabled or not enrolled. */
export interface KnownUser {
  readonly account_id: string;
  readonly email: string;
  readonly display_name: string;
  readonly disabled: boolean;
  readonly enrolled: boolean;
  readonly roles: readonly string[];
  readonly capabilities: readonly string[];
}

const USERS = `
  select u.account_id, u.email, u.display_name, u.disabled, e.account_id is not null as enrolled,
    coalesce(e.roles, '{}') as roles, coalesce(e.capabilities, '{}') as capabilities
  from identity.users u left join identity.enrolments e on e.account_id = u.account_id and e.service = $1`;

const END_SESSIONS = `
  insert into identity.revocations (id, kind, revoked_at, expires_at)
  select sid, 'SESSION', to_timestamp($2), max_until
  from identity.sessions join changed using (account_id)
  where max_until > to_timestamp($2)
  on conflict (id) do nothing`;

const DISABLE = `
  with changed as (
    update identity.users set disabled = true where account_id = $1 and not disabled returning account_id
  ) ${END_SESSIONS}`;

const CHANGE_PASSWORD = `
  with changed as (
    update identity.users set password_hash = $3 where account_id = $1 returning account_id
  ) ${END_SESSIONS}`;

const ENROL = `
  insert into identity.enrolments (account_id, service, roles, capabilities) values ($1, $2, $3, $4)
  on conflict (account_id, service)
  do update set roles = excluded.roles, capabilities = excluded.capabilities`;

/** Changes users and their enrolment in one service. Every gateway applies the changes as fast as revocations. */
export class AccountAdministration {
  constructor(
    private readonly database: Pool | PoolClient,
    private readonly clock: Clock,
    private readonly catalogue: ServiceCatalogue,
  ) {}

  /** All users, ordered by e-mail address. */
  async users(): Promise<readonly KnownUser[]> {
    return (await this.database.query<KnownUser>(`${USERS} order by u.email_key`, [this.catalogue.service]))
      .rows;
  }

  async find(email: string): Promise<KnownUser | undefined> {
    const { rows } = await this.database.query<KnownUser>(`${USERS} where u.email_key = $2`, [
      this.catalogue.service,
      emailKey(email) ?? '',
    ]);
    return rows[0];
  }

  async rename(accountId: string, displayName: string): Promise<void> {
    await this.database.query(
      'update identity.users set display_name = $2 where account_id = $1 and display_name <> $2',
      [accountId, displayName],
    );
  }

  /** Also ends the user's sessions, so that anyone who knows the old password is logged out. */
  async changePassword(accountId: string, passwordHash: string): Promise<void> {
    await this.database.query(CHANGE_PASSWORD, [accountId, epochSeconds(this.clock), passwordHash]);
  }

  /** Also ends the user's sessions, so that none is valid again when the user is enabled. */
  async disable(accountId: string): Promise<void> {
    await this.database.query(DISABLE, [accountId, epochSeconds(this.clock)]);
  }

  async enable(accountId: string): Promise<void> {
    await this.database.query('update identity.users set disabled = false where account_id = $1', [
      accountId,
    ]);
  }

  /** Enrols a user, or replaces its roles and capabilities. */
  async enrol(accountId: string, roles: readonly string[], capabilities: readonly string[]): Promise<void> {
    requireKnown(this.catalogue, { roles, capabilities });
    await this.database.query(ENROL, [accountId, this.catalogue.service, roles, capabilities]);
  }

  async endEnrolment(accountId: string): Promise<void> {
    await this.database.query('delete from identity.enrolments where account_id = $1 and service = $2', [
      accountId,
      this.catalogue.service,
    ]);
  }
}
