import type { Pool } from 'pg';
import type { Clock } from '#libs/platform/clock.js';
import { epochSeconds } from '../epoch.js';
import type { Capability, Role } from '../principal.js';

const DISABLE = `
  with disabled as (
    update identity.users set disabled = true where account_id = $1 and not disabled returning account_id
  )
  insert into identity.revocations (id, kind, revoked_at, expires_at)
  select sid, 'SESSION', to_timestamp($2), max_until
  from identity.sessions join disabled using (account_id)
  where max_until > to_timestamp($2)
  on conflict (id) do nothing`;

const ENROL = `
  insert into identity.enrolments (account_id, service, roles, capabilities) values ($1, 'AUCTION', $2, $3)
  on conflict (account_id, service)
  do update set roles = excluded.roles, capabilities = excluded.capabilities`;

/** Changes of who may come in. Every gateway follows them like revocations. */
export class AccountAdministration {
  constructor(
    private readonly pool: Pool,
    private readonly clock: Clock,
  ) {}

  /** Ends the sessions too, so that none of them comes back when the user does. */
  async disable(accountId: string): Promise<void> {
    await this.pool.query(DISABLE, [accountId, epochSeconds(this.clock)]);
  }

  async enable(accountId: string): Promise<void> {
    await this.pool.query('update identity.users set disabled = false where account_id = $1', [accountId]);
  }

  /** Enrols a user, or changes the enrolment that it has. */
  async enrol(accountId: string, roles: readonly Role[], capabilities: readonly Capability[]): Promise<void> {
    await this.pool.query(ENROL, [accountId, roles, capabilities]);
  }

  async endEnrolment(accountId: string): Promise<void> {
    await this.pool.query(`delete from identity.enrolments where account_id = $1 and service = 'AUCTION'`, [
      accountId,
    ]);
  }
}
