import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import jwt from 'jsonwebtoken';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database/test-database.js';
import { enterUser, logIn, NOON, openGateway, type Gateway } from '../gateway.fixture.js';
import { HandClock } from '../hand-clock.fixture.js';
import { identityMigrations } from '../migrations/list.js';
import type { RefreshResult } from './outcomes.js';
import { LONGEST_LIFETIMES } from './session-lifetimes.js';

const HOUR = 3_600;
const UNAUTHORIZED = { ok: false, reason: 'unauthorized' };

let database: TestDatabase;
let clock: HandClock;
let gateway: Gateway;
let token: string;

beforeAll(async () => {
  database = await createTestDatabase(identityMigrations);
});

afterAll(() => database.drop());

beforeEach(async () => {
  clock = new HandClock(NOON);
  gateway = await openGateway(database.url, clock);
  token = await logIn(gateway, await enterUser(database.pool));
  await gateway.watch.refresh();
});

afterEach(() => gateway.close());

function claims(of: string): { sid: string; jti: string; iat: number; exp: number } {
  return jwt.decode(of) as { sid: string; jti: string; iat: number; exp: number };
}

function issued(result: RefreshResult): string {
  if (!result.ok) throw new Error(`refused: ${result.reason}`);
  return result.access_token;
}

async function isAccepted(of: string): Promise<boolean> {
  return (await gateway.verifier.verify(of)).ok;
}

describe('refreshing', () => {
  it('returns a new token of the same session; the old one stays valid until its expiry', async () => {
    clock.setWall(NOON + HOUR);
    const result = await gateway.sessions.refresh(token);
    expect(result).toMatchObject({ ok: true, expires_at: '2026-11-22T12:59:58.000000000Z' });
    const next = issued(result);
    expect(claims(next)).toMatchObject({
      sid: claims(token).sid,
      iat: NOON + HOUR - 2,
      exp: NOON + 25 * HOUR - 2,
    });
    expect(claims(next).jti).not.toBe(claims(token).jti);
    expect([await isAccepted(token), await isAccepted(next)]).toEqual([true, true]);
    clock.setWall(NOON + 24 * HOUR);
    expect([await isAccepted(token), await isAccepted(next)]).toEqual([false, true]);
  });

  it('never returns a token that expires after the session', async () => {
    clock.setWall(NOON + 20 * HOUR);
    const next = issued(await gateway.sessions.refresh(token));
    expect(claims(next).exp).toBe(NOON + 28 * HOUR);
    clock.setWall(NOON + 28 * HOUR - 1);
    expect(claims(issued(await gateway.sessions.refresh(next))).exp).toBe(NOON + 28 * HOUR);
    clock.setWall(NOON + 28 * HOUR);
    expect(await gateway.sessions.refresh(next)).toEqual(UNAUTHORIZED);
  });

  it('is possible until exactly four hours after the expiry of a token', async () => {
    await gateway.close();
    gateway = await openGateway(database.url, clock, {
      lifetimes: { ...LONGEST_LIFETIMES, tokenSeconds: HOUR },
    });
    token = await logIn(gateway, await enterUser(database.pool));
    clock.setWall(NOON + 5 * HOUR);
    expect(await gateway.sessions.refresh(token)).toMatchObject({ ok: true });
    clock.setWall(NOON + 5 * HOUR + 1);
    expect(await gateway.sessions.refresh(token)).toEqual(UNAUTHORIZED);
  });

  it('applies settings that were shortened since the login', async () => {
    await gateway.close();
    gateway = await openGateway(database.url, clock, {
      lifetimes: { tokenSeconds: HOUR, refreshSeconds: HOUR, sessionSeconds: 2 * HOUR },
    });
    clock.setWall(NOON + HOUR + 1);
    expect(claims(issued(await gateway.sessions.refresh(token))).exp).toBe(NOON + 2 * HOUR);
    clock.setWall(NOON + 2 * HOUR);
    expect(await gateway.sessions.refresh(token)).toEqual(UNAUTHORIZED);
  });

  it('is refused for a revoked token, a revoked session and an invalid token', async () => {
    const other = issued(await gateway.sessions.refresh(token));
    await gateway.sessions.logout(token);
    expect(await gateway.sessions.refresh(token)).toEqual(UNAUTHORIZED);
    expect(await gateway.sessions.refresh(other)).toMatchObject({ ok: true });
    await gateway.sessions.logoutAll(other);
    expect(await gateway.sessions.refresh(other)).toEqual(UNAUTHORIZED);
    expect(await gateway.sessions.refresh('garbage')).toEqual(UNAUTHORIZED);
  });

  it('is refused if the token was issued in the future by the present clock', async () => {
    clock.setWall(NOON - 3);
    expect(await gateway.sessions.refresh(token)).toEqual(UNAUTHORIZED);
  });

  it('is refused if the session belongs to another user', async () => {
    const other = await enterUser(database.pool);
    await database.pool.query('update identity.sessions set account_id = $1 where sid = $2', [
      other.accountId,
      claims(token).sid,
    ]);
    expect(await gateway.sessions.refresh(token)).toEqual(UNAUTHORIZED);
  });
});

describe('logging out', () => {
  it('ends only this token, at once', async () => {
    const other = issued(await gateway.sessions.refresh(token));
    expect(await gateway.sessions.logout(token)).toEqual({ ok: true });
    expect([await isAccepted(token), await isAccepted(other)]).toEqual([false, true]);
  });

  it('of a whole session ends all its tokens at once, but no other session', async () => {
    const user = await enterUser(database.pool);
    const [first, otherSession] = [await logIn(gateway, user), await logIn(gateway, user)];
    await gateway.watch.refresh();
    const second = issued(await gateway.sessions.refresh(first));
    expect(await gateway.sessions.logoutAll(first)).toEqual({ ok: true });
    expect([await isAccepted(first), await isAccepted(second), await isAccepted(otherSession)]).toEqual([
      false,
      false,
      true,
    ]);
  });

  it('is refused a second time, like every use of a revoked token', async () => {
    await gateway.sessions.logout(token);
    expect(await gateway.sessions.logout(token)).toEqual(UNAUTHORIZED);
    expect(await gateway.sessions.logoutAll(token)).toEqual(UNAUTHORIZED);
  });

  it('works with an expired token that could still be refreshed', async () => {
    clock.setWall(NOON + 25 * HOUR);
    expect(await gateway.sessions.logout(token)).toEqual({ ok: true });
    expect(await gateway.sessions.refresh(token)).toEqual(UNAUTHORIZED);
  });

  it('is refused for an invalid token', async () => {
    expect(await gateway.sessions.logout('garbage')).toEqual(UNAUTHORIZED);
    expect(await gateway.sessions.logoutAll('')).toEqual(UNAUTHORIZED);
  });

  it('succeeds once for many concurrent requests', async () => {
    const results = await Promise.all(Array.from({ length: 8 }, () => gateway.sessions.logout(token)));
    expect(results.filter(({ ok }) => ok)).toHaveLength(1);
  });
});

describe('a stored session', () => {
  async function counts(): Promise<unknown> {
    const { rows } = await database.pool.query(
      `select (select count(*) from identity.sessions where sid = $1) as sessions,
         (select count(*) from identity.revocations where id = $2) as revocations`,
      [claims(token).sid, claims(token).jti],
    );
    return rows[0];
  }

  it('is deleted only when it can no longer be used', async () => {
    await gateway.sessions.logout(token);
    clock.setWall(NOON + 28 * HOUR);
    await gateway.tidy();
    expect(await counts()).toEqual({ sessions: 1, revocations: 1 });
    clock.setWall(NOON + 29 * HOUR + 1);
    await gateway.tidy();
    expect(await counts()).toEqual({ sessions: 1, revocations: 0 });
    clock.setWall(NOON + 33 * HOUR + 1);
    await gateway.tidy();
    expect(await counts()).toEqual({ sessions: 0, revocations: 0 });
  });
});
