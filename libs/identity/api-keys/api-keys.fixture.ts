import { randomUUID } from 'node:crypto';
import type { Pool } from 'pg';
import { openPool } from '#libs/platform/database/postgres.js';
import type { Clock } from '#libs/platform/time/clock.js';
import { enrolUsers, type NewUser } from '../accounts/enrol-users.js';
import { CHEAP, openGateway, PASSWORD, type Gateway } from '../gateway.fixture.js';
import { hashPassword } from '../passwords/password-hash.js';
import type { IssuedKey } from './api-key-service.js';
import type { ApiAuthenticator, CallerOutcome, CallCredentials } from './authenticate.js';
import type { KeyTriple } from './key-triple.js';
import { openApiKeys, type ApiKeys } from './open-api-keys.js';

export const TRADING = { service: 'TRADING', roles: ['TRADER', 'OPERATOR'], capabilities: [] };
export const API_KEY_SECRET = '5e'.repeat(32);

/** One process that checks API keys, with connections of its own. */
export interface KeyGateway {
  readonly keys: ApiKeys;
  readonly identity: Gateway;
  readonly authenticator: ApiAuthenticator;
  /** Authenticates a call with these headers from this address. */
  ask(
    headers: Readonly<Record<string, string>>,
    peer: string,
    more?: Partial<CallCredentials>,
  ): Promise<CallerOutcome>;
  close(): Promise<void>;
}

export async function openKeyGateway(
  url: string,
  clock: Clock,
  secret = API_KEY_SECRET,
): Promise<KeyGateway> {
  const identity = await openGateway(url, clock, { catalogues: [TRADING] });
  const pool = openPool(url, { applicationName: 'execution', max: 10 });
  const keys = openApiKeys({ pool, watchPool: pool, clock }, { secret });
  await keys.start();
  const { watch: users, feed } = identity;
  const { service } = TRADING;
  const verifier = identity.verifierOf(service);
  const authenticator = keys.authenticatorOf({ users, feed, verifier, service });
  return {
    keys,
    identity,
    authenticator,
    ask: async (headers, peer, more) =>
      authenticator.authenticate({ headers, peer, wrongTriple: 401, takesCookie: true, ...more }),
    async close() {
      await keys.stop();
      await pool.end();
      await identity.close();
    },
  };
}

export async function enterTrader(pool: Pool, roles: readonly string[] = ['TRADER']): Promise<NewUser> {
  const accountId = randomUUID();
  const trader = {
    accountId,
    email: `trader-${accountId}@test.sotto`,
    displayName: 'Trader',
    passwordHash: await hashPassword(PASSWORD, CHEAP),
    enrolment: { roles },
  };
  await enrolUsers(pool, [trader], TRADING);
  return trader;
}

export function headersOf({ client_id, api_key, api_secret }: KeyTriple): Record<string, string> {
  return { 'x-client-id': client_id, 'x-api-key': api_key, 'x-api-secret': api_secret };
}

export async function newKey(
  gateway: KeyGateway,
  user: NewUser,
  overrides: { readonly ip_allow_list?: readonly string[]; readonly expires_at?: Date } = {},
): Promise<IssuedKey> {
  const issued = await gateway.keys.service.create(user.accountId, {
    name: 'key',
    preset: 'trading',
    ...overrides,
  });
  if (issued === undefined) throw new Error('no key was created');
  return issued;
}

let lastHost = 0;

/** A new address without failures. */
export function newPeer(): string {
  lastHost += 1;
  return `10.9.${lastHost >> 8}.${lastHost & 255}`;
}

/** `ok`, or the status of the refusal. */
export function verdict(outcome: CallerOutcome): 'ok' | number {
  return outcome.ok ? 'ok' : outcome.refusal.status;
}
