import { randomUUID } from 'node:crypto';
import type { Pool } from 'pg';
import type { Clock } from '#libs/platform/time/clock.js';
import { openPool } from '#libs/platform/database/postgres.js';
import { enrolUsers, type NewUser } from './accounts/enrol-users.js';
import { openIdentity, type Identity, type IdentitySettings } from './identity.js';
import type { ServiceCatalogue } from './principal.js';
import type { TokenVerifier } from './tokens/token-verifier.js';
import type { PasswordCost } from './passwords/password-cost.js';
import { hashPassword } from './passwords/password-hash.js';
import { LONGEST_LIFETIMES } from './sessions/session-lifetimes.js';

export const PASSWORD = 'correct horse battery staple';
export const CHEAP: PasswordCost = { logN: 4, r: 8, p: 1 };
export const KEY_ENCRYPTION_KEY = 'a1'.repeat(32);
export const AUCTIONS: ServiceCatalogue = {
  service: 'AUCTION',
  roles: ['ORIGINATOR', 'MARKET_MAKER', 'OPERATOR', 'VIEWER'],
  capabilities: ['auction:create', 'auction:quote'],
};
export const LIBRARY: ServiceCatalogue = {
  service: 'LIBRARY',
  roles: ['READER', 'VIEWER'],
  capabilities: ['book:borrow'],
};
export const NOON = 1_795_262_400;

export interface Gateway extends Identity {
  /** The verifier of auctions. */
  readonly verifier: TokenVerifier;
  close(): Promise<void>;
}

/** The identity of one gateway process, with its own connections. */
export async function openGateway(
  url: string,
  clock: Clock,
  settings: Partial<IdentitySettings> = {},
): Promise<Gateway> {
  const pool = openPool(url, { applicationName: 'gateway', max: 20 });
  const watchPool = openPool(url, { applicationName: 'gateway-watch', max: 2 });
  const identity = openIdentity(
    { pool, watchPool, clock },
    {
      catalogues: [AUCTIONS, LIBRARY],
      keyEncryptionKeys: [KEY_ENCRYPTION_KEY],
      lifetimes: LONGEST_LIFETIMES,
      passwordCost: CHEAP,
      ...settings,
    },
  );
  await identity.start();
  return {
    ...identity,
    verifier: identity.verifierOf(AUCTIONS.service),
    close: async () => {
      identity.stop();
      await Promise.all([pool.end(), watchPool.end()]);
    },
  };
}

/** A new user that can log in with PASSWORD. */
export async function enterUser(pool: Pool, overrides: Partial<NewUser> = {}): Promise<NewUser> {
  const user = { ...(await newcomer()), enrolment: { roles: ['MARKET_MAKER'] }, ...overrides };
  await enrolUsers(pool, [user], AUCTIONS);
  return user;
}

/** A new user that is enrolled nowhere. */
export async function enterStranger(pool: Pool): Promise<NewUser> {
  const stranger = await newcomer();
  await enrolUsers(pool, [stranger], AUCTIONS);
  return stranger;
}

async function newcomer(): Promise<NewUser> {
  const accountId = randomUUID();
  return {
    accountId,
    email: `user-${accountId}@test.sotto`,
    displayName: 'Maker One',
    passwordHash: await hashPassword(PASSWORD, CHEAP),
  };
}

/** The token of a login, which must succeed. */
export async function logIn(gateway: Identity, user: NewUser): Promise<string> {
  const result = await gateway.logins.login(user.email, PASSWORD, '10.0.0.1');
  if (!result.ok) throw new Error(`login was refused: ${result.reason}`);
  return result.access_token;
}
