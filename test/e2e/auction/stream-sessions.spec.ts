import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import type { StreamClient } from '#libs/client/stream-client.js';
import type { Ack } from '#libs/client/stream-wire.js';
import { SHARED_HEARTBEAT_MS } from '#libs/testing/cluster/shared-cluster.js';
import { ServiceRecords } from '../books.js';
import { type StreamFloor, streamFloor } from '../stream-floor.js';
import { TokenForge } from '../token-forge.js';
import { auctionBody, CONTRACT, INSTANT, type Trader } from '../trading-floor.js';

const UNAUTHORIZED = 4401;
/** The contract says one second; the rest is for the machine. */
const REVOKED_WITHIN_MS = 2_000;
jest.setTimeout(40_000);

let floor: StreamFloor;
let books: ServiceRecords;
let forge: TokenForge;
/** A maker for tests that leave no trace on its account. */
let maker: Trader;
let undo: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  floor = await streamFloor();
  books = new ServiceRecords(floor.cluster);
  forge = await TokenForge.open(floor.cluster, books);
  maker = await floor.newTrader('maker');
}, 60_000);

afterEach(async () => {
  for (const step of undo.reverse()) await step();
  undo = [];
});

afterAll(async () => {
  floor.close();
  await books.close();
});

function claimsOf(token: string): Record<string, unknown> {
  return JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString()) as Record<string, unknown>;
}

/** Another token of the same session that ends after this many seconds. */
function briefly(token: string, seconds: number): string {
  const exp = Math.floor(Date.now() / 1_000) + seconds;
  return forge.sign({ ...claimsOf(token), jti: randomUUID(), exp });
}

async function listening(token: string, gateway = 0): Promise<StreamClient> {
  const client = await floor.open({ token, gateway });
  await client.hello();
  return client;
}

/** The close code of the stream, and how long it took. */
async function endsWithin(client: StreamClient, act: () => Promise<unknown>): Promise<number> {
  await act();
  const since = performance.now();
  const { code } = await client.untilClosed();
  expect(performance.now() - since).toBeLessThan(REVOKED_WITHIN_MS);
  return code;
}

describe('a stream whose session ends', () => {
  it('is closed with 4401 by a logout, while streams of other sessions stay', async () => {
    const token = await floor.newToken(maker.name);
    const [ended, other] = [await listening(token), await listening(await floor.newToken(maker.name))];
    const logout = (): Promise<unknown> => floor.anybody.as(token).send('POST', '/auth/logout');
    expect(await endsWithin(ended, logout)).toBe(UNAUTHORIZED);
    expect(await other.ask('ping')).toMatchObject({ type: 'pong' });
  });

  it('is closed with 4401 by a logout-all at another gateway, before and after its hello', async () => {
    const token = await floor.newToken(maker.name);
    const streams = [await listening(token, 0), await listening(token, 1), await floor.open({ token })];
    const { access_token: refreshed } = await refresh(token);
    expect(maker.api.baseUrl).not.toBe(floor.gatewayUrl(1));
    const answer = await fetch(`${floor.gatewayUrl(1)}/auth/logout-all`, {
      method: 'POST',
      headers: { authorization: `Bearer ${refreshed}` },
    });
    expect(answer.status).toBe(204);
    const since = performance.now();
    const closes = await Promise.all(streams.map((stream) => stream.untilClosed()));
    expect(closes.map(({ code }) => code)).toEqual([UNAUTHORIZED, UNAUTHORIZED, UNAUTHORIZED]);
    expect(performance.now() - since).toBeLessThan(REVOKED_WITHIN_MS);
  });

  it('is closed with 4401 when its account is disabled or no longer enrolled', async () => {
    const [disabled, struck] = await floor.newTraders('maker', 'maker');
    const account = disabled.accountId;
    const disable = 'update identity.users set disabled = $2 where account_id = $1';
    undo.push(() => books.rows(disable, [account, false]));
    const first = await listening(await floor.newToken(disabled.name));
    expect(await endsWithin(first, () => books.rows(disable, [account, true]))).toBe(UNAUTHORIZED);

    const other = struck.accountId;
    const enrol = `insert into identity.enrolments (account_id, service, roles, capabilities)
      values ($1, 'AUCTION', $2, $3)`;
    undo.push(() => books.rows(enrol, [other, ['MARKET_MAKER'], ['auction:create', 'auction:quote']]));
    const strike = 'delete from identity.enrolments where account_id = $1';
    const second = await listening(await floor.newToken(struck.name));
    expect(await endsWithin(second, () => books.rows(strike, [other]))).toBe(UNAUTHORIZED);
  });

  it('stays open when its account is suspended, which only may not quote', async () => {
    const [originator, suspended] = await floor.newTraders('originator', 'maker');
    const { auction_id: id } = await originator.opens(auctionBody(floor.contract('venue_c', 5), [suspended]));
    const client = await floor.listen(suspended.name);
    const suspend = 'update control.accounts_policy set suspended = $2 where account_id = $1';
    undo.push(() => books.rows(suspend, [suspended.accountId, false]));
    await books.rows(suspend, [suspended.accountId, true]);
    const refused = async (): Promise<unknown> =>
      client.command('quote.submit', { auction_id: id, price_atoms: 500_000, quantity_atoms: CONTRACT });
    let reply = await refused();
    for (let tries = 0; tries < 50 && (reply as { type: string }).type === 'ack'; tries += 1) {
      await client.command('quote.withdraw_all');
      reply = await refused();
    }
    expect(reply).toMatchObject({ type: 'reject', status: 422, error: 'PRINCIPAL_SUSPENDED' });
    await originator.cancel(id);
  });

  it("is warned before its session's end, and closed with 4401 at the end", async () => {
    const token = briefly(await floor.token(maker.name), 3);
    const client = await floor.open({ token });
    const welcome = await client.hello();
    const end = Date.parse(welcome.session_expires_at);
    expect(end).toBe((claimsOf(token).exp as number) * 1_000);
    await client.untilType('session_expiring');
    expect(Date.now()).toBeLessThan(end);
    expect((await client.untilClosed()).code).toBe(UNAUTHORIZED);
    expect(Date.now()).toBeGreaterThanOrEqual(end);
    expect(Date.now() - end).toBeLessThan(REVOKED_WITHIN_MS);
    expect(client.frames.filter(({ type }) => type === 'session_expiring')).toHaveLength(1);
  });
});

async function refresh(token: string): Promise<{ readonly access_token: string }> {
  const answer = await floor.anybody.as(token).send<{ access_token: string }>('POST', '/auth/refresh');
  expect(answer.status).toBe(200);
  return answer.body;
}

describe('auth.refresh', () => {
  it("replaces the token by another one of the account; the first token's end then changes nothing", async () => {
    const token = await floor.newToken(maker.name);
    const first = briefly(token, 3);
    const [client, former, other] = [await listening(first), await listening(first), await listening(token)];
    await client.subscribe();
    await client.untilType('session_expiring');
    const { access_token: second } = await refresh(token);
    const reply = await client.command('auth.refresh', { token: second, idempotency_key: undefined });
    const { status, result } = reply as Ack<{ session_expires_at: string }>;
    expect(status).toBe(200);
    expect(Date.parse(result.session_expires_at)).toBe((claimsOf(second).exp as number) * 1_000);
    // A stream that still has the first token ends with it, earlier.
    await former.untilClosed();
    expect(await client.ask('ping')).toMatchObject({ type: 'pong' });
    // Only the present token decides.
    await floor.anybody.as(token).send('POST', '/auth/logout');
    const logout = (): Promise<unknown> => floor.anybody.as(second).send('POST', '/auth/logout');
    await other.untilClosed();
    expect(client.closed).toBeUndefined();
    expect(await endsWithin(client, logout)).toBe(UNAUTHORIZED);
  });

  it.each<[string, () => Promise<string>, string]>([
    ['of another account', async () => floor.token((await floor.newTrader('maker')).name), '403 forbidden'],
    ['that has expired', async () => briefly(await floor.token(maker.name), -5), '401 unauthorized'],
    ['that is malformed', () => Promise.resolve('a.b.c'), '401 unauthorized'],
    [
      'that has been revoked',
      async () => {
        const revoked = await floor.newToken(maker.name);
        await floor.anybody.as(revoked).send('POST', '/auth/logout');
        return revoked;
      },
      '401 unauthorized',
    ],
  ])('refuses a token %s, and the stream goes on with its own', async (_, token, expected) => {
    const client = await floor.listen(maker.name);
    const reply = await client.ask('auth.refresh', { token: await token() });
    expect(reply).toEqual({
      type: 'reject',
      cmd_id: expect.any(String),
      status: Number(expected.slice(0, 3)),
      error: expected.slice(4),
    });
    expect(await client.ask('ping')).toMatchObject({ type: 'pong' });
  });
});

describe('heartbeats', () => {
  it('come at the announced interval, with a resume token', async () => {
    const client = await floor.listen(maker.name);
    await client.untilIt(
      () => client.frames.filter(({ type }) => type === 'heartbeat').length >= 4,
      'heartbeats',
    );
    const beats = client.frames.flatMap((frame) => (frame.type === 'heartbeat' ? [frame] : []));
    expect(beats[0]).toEqual({
      type: 'heartbeat',
      server_time: expect.stringMatching(INSTANT),
      resume_token: expect.stringMatching(/^[A-Za-z0-9_-]+$/),
    });
    const times = beats.map(({ server_time: time }) => Date.parse(time));
    for (const [index, time] of times.slice(1).entries()) {
      expect(time - times[index]!).toBeGreaterThanOrEqual(SHARED_HEARTBEAT_MS - 50);
      expect(time - times[index]!).toBeLessThan(10 * SHARED_HEARTBEAT_MS);
    }
    const again = await floor.goesOn(maker.name, client, { gateway: 1 });
    expect(again.frames[0]).toMatchObject({ type: 'welcome', resumed: true, subscriptions: [] });
  });

  it('need an answer: a client that answers pings or sends messages stays, a silent one is closed with 4408', async () => {
    const token = await floor.token(maker.name);
    const speaking = await floor.open({ token, answersPings: false });
    const [alive, dead] = [await floor.open({ token }), await floor.open({ token, answersPings: false })];
    await Promise.all([speaking.hello(), alive.hello(), dead.hello()]);
    const since = performance.now();
    const heard = (): number => speaking.frames.filter(({ type }) => type === 'heartbeat').length;
    while (dead.closed === undefined) {
      const before = heard();
      expect(await speaking.ask('ping')).toMatchObject({ type: 'pong' });
      await speaking.untilIt(() => heard() > before, 'another heartbeat');
    }
    expect(dead.closed.code).toBe(4408);
    expect(performance.now() - since).toBeGreaterThanOrEqual(2.5 * SHARED_HEARTBEAT_MS);
    for (const client of [alive, speaking]) expect(await client.ask('ping')).toMatchObject({ type: 'pong' });
  });
});
