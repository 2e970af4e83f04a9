import { randomUUID } from 'node:crypto';
import type { Pool } from 'pg';
import { DATA_CATALOGUE } from '#libs/data/api/enrolment.js';
import type { DataIdentityPorts } from '#libs/data/api/authenticate.js';
import { enrolKnown, enrolUsers } from '#libs/identity/accounts/enrol-users.js';
import { enterApiKeys } from '#libs/identity/api-keys/enter-api-keys.js';
import { newTriple, TripleSeal, type KeyTriple } from '#libs/identity/api-keys/key-triple.js';
import { openApiKeys } from '#libs/identity/api-keys/open-api-keys.js';
import { openIdentity, type Identity } from '#libs/identity/identity.js';
import { hashPassword } from '#libs/identity/passwords/password-hash.js';
import { LONGEST_LIFETIMES } from '#libs/identity/sessions/session-lifetimes.js';
import { TokenRefusals } from '#libs/identity/tokens/token-refusals.js';
import { openPool } from '#libs/platform/database/postgres.js';
import type { Clock } from '#libs/platform/time/clock.js';

export const ADMIN_SECRET = 'an admin secret of thirty-two characters';
export const KEY_SECRET = '5e'.repeat(32);
const PASSWORD = 'correct horse battery staple';
const CHEAP = { logN: 4, r: 8, p: 1 };
/** The service of users whom market data has not invited. */
const ELSEWHERE = { service: 'EXECUTION', roles: ['TRADER'], capabilities: [] };

export type RequestHeaders = Readonly<Record<string, string>>;

/** Real identity, with callers of every kind. */
export class DataCallersWorld {
  private constructor(
    readonly identity: Identity,
    readonly ports: Omit<DataIdentityPorts, 'adminSecrets'>,
    private readonly pool: Pool,
    private readonly closing: () => Promise<void>,
  ) {}

  static async open(url: string, clock: Clock): Promise<DataCallersWorld> {
    const pool = openPool(url, { applicationName: 'data-identity', max: 6 });
    const identity = openIdentity(
      { pool, watchPool: pool, clock },
      {
        ...{ catalogues: [DATA_CATALOGUE, ELSEWHERE], keyEncryptionKeys: ['a1'.repeat(32)] },
        ...{ lifetimes: LONGEST_LIFETIMES, passwordCost: CHEAP },
      },
    );
    await identity.start();
    const keys = openApiKeys({ pool, watchPool: pool, clock }, { secret: KEY_SECRET });
    await keys.start();
    const { watch: users, feed } = identity;
    const ports = {
      ...keys.partsOf(DATA_CATALOGUE.service, { users, feed }),
      verifier: identity.verifierOf(DATA_CATALOGUE.service),
      refusals: new TokenRefusals(users, feed, clock),
    };
    return new DataCallersWorld(identity, ports, pool, async () => {
      await keys.stop();
      identity.stop();
      await pool.end();
    });
  }

  /** Creates a user and returns its id. */
  async user({ isInvited = true } = {}): Promise<string> {
    const accountId = randomUUID();
    const user = {
      ...{ accountId, email: emailOf(accountId), displayName: 'Reader' },
      ...{ passwordHash: await hashPassword(PASSWORD, CHEAP), enrolment: { roles: ['TRADER'] } },
    };
    await enrolUsers(this.pool, [user], ELSEWHERE);
    if (isInvited) await enrolKnown(this.pool, [{ accountId, roles: ['READER'] }], DATA_CATALOGUE);
    // Other processes learn of a new user within a second.
    await this.identity.watch.refresh();
    return accountId;
  }

  /** Logs in and returns the token. */
  async token(userId: string): Promise<string> {
    const result = await this.identity.logins.login(emailOf(userId), PASSWORD, '10.0.0.1');
    if (!result.ok) throw new Error(`login was refused: ${result.reason}`);
    return result.access_token;
  }

  async session(user?: string): Promise<RequestHeaders> {
    return { authorization: `Bearer ${await this.token(user ?? (await this.user()))}` };
  }

  async key(
    scopes: readonly string[],
    { user, addresses = [] }: { readonly user?: string; readonly addresses?: readonly string[] } = {},
  ): Promise<RequestHeaders> {
    const triple = newTriple();
    const account_id = user ?? (await this.user());
    await enterApiKeys(this.pool, new TripleSeal(KEY_SECRET), [
      { ...triple, account_id, name: 'key', scopes, ip_allow_list: addresses },
    ]);
    return tripleHeaders(triple);
  }

  /** Forgets the failures that were counted for addresses. */
  async forgiveFailures(): Promise<void> {
    await this.pool.query('truncate identity.auth_failures, identity.auth_blocks');
  }

  close(): Promise<void> {
    return this.closing();
  }
}

export function tripleHeaders({ client_id, api_key, api_secret }: KeyTriple): RequestHeaders {
  return { 'x-client-id': client_id, 'x-api-key': api_key, 'x-api-secret': api_secret };
}

/** A triple of the right form that belongs to no user. */
export function wrongTriple(): RequestHeaders {
  return tripleHeaders(newTriple());
}

function emailOf(userId: string): string {
  return `user-${userId}@test.sotto`;
}
