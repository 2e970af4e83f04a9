import type { Pool } from 'pg';
import { emailKey } from '../accounts/email.js';
import { HOUR_S } from '../epoch.js';
import type { Claims } from '../tokens/claims.js';
import { MAX_REFRESH_S } from './session-lifetimes.js';

export interface LoginRow {
  readonly account_id: string;
  readonly email: string;
  readonly password_hash: string;
  readonly disabled: boolean;
}

export interface SessionRow {
  readonly email: string;
  readonly created_at: number;
  readonly max_until: number;
}

const LOGIN = 'select account_id, email, password_hash, disabled from identity.users where email_key = $1';

const LIVE_SESSION = `
  select u.email, extract(epoch from s.created_at)::int8 as created_at,
    extract(epoch from s.max_until)::int8 as max_until
  from identity.sessions s join identity.users u using (account_id)
  where s.sid = $1 and s.account_id = $2 and not u.disabled
    and not exists (select from identity.revocations where id in ($1, $3))`;

/**
 * A revocation expires with the session, or with the token if that expires earlier. For a gateway with a role of its own, the
 * database sets and returns the longest possible lifetime instead (migration 1790000053000).
 */
const REVOKE = `
  insert into identity.revocations (id, kind, revoked_at, expires_at)
  select $1, $2, to_timestamp($3), least(s.max_until, to_timestamp($4))
  from identity.sessions s
  where s.sid = $5 and s.account_id = $6
    and not exists (select from identity.revocations where id in ($5, $7))
  on conflict (id) do nothing
  returning extract(epoch from expires_at)::int8 as until`;

/** Tokens are not stored. Only the id of a revoked token is, while the token could be used. */
export class SessionStore {
  constructor(private readonly pool: Pool) {}

  async loginOf(email: string): Promise<LoginRow | undefined> {
    // No user has an empty key, so an impossible address finds nothing but takes the same look-up.
    const values = [emailKey(email) ?? ''];
    return (await this.pool.query<LoginRow>({ name: 'identity-login', text: LOGIN, values })).rows[0];
  }

  async open(sid: string, accountId: string, createdAt: number, maxUntil: number): Promise<void> {
    await this.pool.query(
      `insert into identity.sessions (sid, account_id, created_at, max_until)
       values ($1, $2, to_timestamp($3), to_timestamp($4))`,
      [sid, accountId, createdAt, maxUntil],
    );
  }

  /** The session of a token, unless either is revoked or the user is disabled. */
  async liveSessionOf({ sid, sub, jti }: Claims): Promise<SessionRow | undefined> {
    return (await this.pool.query<SessionRow>(LIVE_SESSION, [sid, sub, jti])).rows[0];
  }

  /** Revokes, and returns when the revocation expires. Undefined if the token was already revoked or unknown. */
  async revoke(kind: 'TOKEN' | 'SESSION', claims: Claims, now: number): Promise<number | undefined> {
    const { sid, sub, jti, exp } = claims;
    const [id, ends] = kind === 'TOKEN' ? [jti, exp] : [sid, Number.POSITIVE_INFINITY];
    const { rows } = await this.pool.query<{ readonly until: number }>(REVOKE, [
      id,
      kind,
      now,
      ends,
      sid,
      sub,
      jti,
    ]);
    return rows[0]?.until;
  }

  /** Deletes sessions whose last token can no longer be refreshed. The hour allows for clock differences. */
  async forgetEnded(now: number): Promise<void> {
    const values = [now - MAX_REFRESH_S - HOUR_S];
    await this.pool.query('delete from identity.sessions where max_until < to_timestamp($1)', values);
    await this.pool.query('delete from identity.revocations where expires_at < to_timestamp($1)', values);
  }
}
