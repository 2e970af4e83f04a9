import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import jwt from 'jsonwebtoken';
import type { NewUser } from '../accounts/enrol-users.js';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database/test-database.js';
import { enterUser, logIn, NOON, openGateway, type Gateway } from '../gateway.fixture.js';
import { HandClock } from '../hand-clock.fixture.js';
import { identityMigrations } from '../migrations/list.js';
import { UNAUTHORIZED } from '../principal.js';

const HOUR = 3_600;
const DAY = 24 * HOUR;

let database: TestDatabase;
let clock: HandClock;
let gateway: Gateway;
let other: Gateway;
let user: NewUser;

beforeAll(async () => {
  database = await createTestDatabase(identityMigrations);
  user = await enterUser(database.pool);
});

afterAll(() => database.drop());

beforeEach(async () => {
  await database.pool.query('delete from identity.signing_keys');
  clock = new HandClock(NOON);
  [gateway, other] = await Promise.all([openGateway(database.url, clock), openGateway(database.url, clock)]);
});

afterEach(() => Promise.all([gateway.close(), other.close()]));

function kidOf(token: string): string | undefined {
  return jwt.decode(token, { complete: true })?.header.kid;
}

function published(of: Gateway): readonly string[] {
  return of.keys.jwks()?.keys.map(({ kid }) => kid) ?? [];
}

async function isAccepted(token: string, at: Gateway): Promise<boolean> {
  return (await at.verifier.verify(token)).ok;
}

async function refreshAll(): Promise<void> {
  await Promise.all([gateway.watch.refresh(), other.watch.refresh()]);
}

describe('the first key', () => {
  it('is created once, even if two gateways start at the same time', () => {
    expect(published(gateway)).toHaveLength(1);
    expect(published(other)).toEqual(published(gateway));
  });

  it('is kept over restarts', async () => {
    const before = published(gateway);
    await gateway.close();
    gateway = await openGateway(database.url, clock);
    expect(published(gateway)).toEqual(before);
  });

  it('cannot be read from the database', async () => {
    const { rows } = await database.pool.query<{ sealed: string }>(
      `select encode(sealed_private_key, 'escape') as sealed from identity.signing_keys`,
    );
    expect(rows[0]?.sealed).not.toContain('PRIVATE KEY');
  });

  it('makes a gateway with another key encryption key fail at its start with a clear message', async () => {
    const start = openGateway(database.url, clock, { keyEncryptionKeys: ['b2'.repeat(32)] });
    await expect(start).rejects.toThrow('SESSION_KEK is not the key that sealed');
  });
});

describe('rotating', () => {
  it('publishes two keys everywhere before the new one signs', async () => {
    const old = published(gateway)[0]!;
    const next = await gateway.keys.rotate(600);
    await other.watch.refresh();
    for (const each of [gateway, other]) expect(published(each).toSorted()).toEqual([old, next].toSorted());
    expect(gateway.keys.states()).toEqual(
      new Map([
        [next, 'NEXT'],
        [old, 'ACTIVE'],
      ]),
    );
    clock.setWall(NOON + 599);
    expect(kidOf(await logIn(other, user))).toBe(old);
    clock.setWall(NOON + 600);
    expect(kidOf(await logIn(other, user))).toBe(next);
    expect(gateway.keys.states()?.get(old)).toBe('RETIRED');
  });

  it('keeps tokens of the old key valid and refreshable until their end', async () => {
    const token = await logIn(gateway, user);
    const next = await gateway.keys.rotate(0);
    clock.setWall(NOON + DAY - 3);
    await gateway.tidy();
    await refreshAll();
    expect([await isAccepted(token, gateway), await isAccepted(token, other)]).toEqual([true, true]);
    clock.setWall(NOON + 28 * HOUR - 3);
    await gateway.tidy();
    await refreshAll();
    const refreshed = await other.sessions.refresh(token);
    expect(refreshed.ok && kidOf(refreshed.access_token)).toBe(next);
  });

  it('returns the key that is already announced instead of a new one', async () => {
    const [first, second] = await Promise.all([gateway.keys.rotate(600), other.keys.rotate(600)]);
    expect(first).toBe(second);
    expect(published(gateway)).toHaveLength(2);
  });

  it('removes a key once the last token that it signed can no longer be refreshed', async () => {
    const old = published(gateway)[0]!;
    await gateway.keys.rotate(600);
    clock.setWall(NOON + 600 + 29 * HOUR);
    await gateway.tidy();
    await refreshAll();
    expect(published(other)).toContain(old);
    clock.setWall(NOON + 600 + 29 * HOUR + 1);
    await gateway.tidy();
    await refreshAll();
    expect(published(other)).not.toContain(old);
    expect(published(other)).toHaveLength(1);
  });

  it('never lets two keys become active at the same moment', async () => {
    const next = await gateway.keys.rotate(0);
    expect(gateway.keys.states()?.get(next)).toBe('NEXT');
    clock.setWall(NOON + 1);
    expect(gateway.keys.states()?.get(next)).toBe('ACTIVE');
  });

  it('happens by itself every thirty days', async () => {
    clock.setWall(NOON + 30 * DAY - 1);
    await gateway.tidy();
    expect(published(gateway)).toHaveLength(1);
    clock.setWall(NOON + 30 * DAY);
    await gateway.tidy();
    expect(published(gateway)).toHaveLength(2);
    await gateway.tidy();
    expect(published(gateway)).toHaveLength(2);
  });
});

describe('a withdrawn key', () => {
  it('invalidates its tokens on every process, and another key signs at once', async () => {
    const token = await logIn(gateway, user);
    const follow = other.verifier.follow(token);
    expect([await isAccepted(token, other), (await follow()).ok]).toEqual([true, true]);
    await gateway.keys.withdraw(kidOf(token)!);
    await other.watch.refresh();
    expect([await isAccepted(token, gateway), await isAccepted(token, other)]).toEqual([false, false]);
    expect(await follow()).toBe(UNAUTHORIZED);
    expect(await gateway.sessions.refresh(token)).toEqual({ ok: false, reason: 'unauthorized' });
    const fresh = await logIn(other, user);
    expect(kidOf(fresh)).not.toBe(kidOf(token));
    expect(await isAccepted(fresh, gateway)).toBe(true);
  });
});

describe('a key that was planted in the database', () => {
  it('is ignored, because it was not encrypted with our key', async () => {
    await database.pool.query(
      `insert into identity.signing_keys
       select 'planted', sealed_private_key, created_at, active_from + interval '1 second' from identity.signing_keys`,
    );
    clock.setWall(NOON + 10);
    await refreshAll();
    expect(published(gateway)).not.toContain('planted');
    expect(kidOf(await logIn(gateway, user))).not.toBe('planted');
  });
});
