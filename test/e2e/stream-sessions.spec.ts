import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { StreamClient } from '#libs/client/stream-client.js';
import type { Ack } from '#libs/client/stream-wire.js';
import { Books } from './books.js';
import { QUICK_HEARTBEAT_MS, quickStreamFloor, type StreamFloor, streamFloor } from './stream-floor.js';
import { TokenForge } from './token-forge.js';
import { auctionBody, CONTRACT, INSTANT, type Trader } from './trading-floor.js';

const UNAUTHORIZED = 4401;
/** The contract says a second; the rest is for the machine. */
const REVOKED_WITHIN_MS = 2_000;
jest.setTimeout(40_000);

let floor: StreamFloor;
let books: Books;
let forge: TokenForge;
let undo: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  floor = await streamFloor();
  books = new Books(floor.cluster);
  forge = await TokenForge.open(floor.cluster, books);
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

/** Another token of the same session, which ends so soon. */
function briefly(token: string, seconds: number): string {
  const exp = Math.floor(Date.now() / 1_000) + seconds;
  return forge.sign({ ...claimsOf(token), jti: randomUUID(), exp });
}

async function listening(token: string, gateway = 0): Promise<StreamClient> {
  const client = await floor.open({ token, gateway });
  await client.hello();
  return client;
}

/** How the stream ended, and how long that took. */
async function endsWithin(client: StreamClient, act: () => Promise<unknown>): Promise<number> {
  await act();
  const since = performance.now();
  const { code } = await client.untilClosed();
  expect(performance.now() - since).toBeLessThan(REVOKED_WITHIN_MS);
  return code;
}

describe('a stream whose session ends', () => {
  it('is closed 4401 by a logout, and those of other sessions are not', async () => {
    const token = await floor.newToken('load-maker-3');
    const [ended, other] = [await listening(token), await listening(await floor.newToken('load-maker-3'))];
    const logout = (): Promise<unknown> => floor.anybody.as(token).send('POST', '/auth/logout');
    expect(await endsWithin(ended, logout)).toBe(UNAUTHORIZED);
    expect(await other.ask('ping')).toMatchObject({ type: 'pong' });
  });

  it('is closed 4401 by a logout-all at another gateway, before and after its hello', async () => {
    const token = await floor.newToken('load-maker-3');
    const streams = [await listening(token, 0), await listening(token, 1), await floor.open({ token })];
    const { access_token: refreshed } = await refresh(token);
    const api = (await floor.trader('load-maker-3')).api;
    expect(api.baseUrl).not.toBe(floor.gatewayUrl(1));
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

  it('is closed 4401 when its account is disabled, or no longer enrolled', async () => {
    const account = floor.accountOf('load-maker-59');
    const disable = 'update identity.users set disabled = $2 where account_id = $1';
    undo.push(() => books.rows(disable, [account, false]));
    const first = await listening(await floor.newToken('load-maker-59'));
    expect(await endsWithin(first, () => books.rows(disable, [account, true]))).toBe(UNAUTHORIZED);

    const other = floor.accountOf('load-maker-60');
    const enrol = `insert into identity.enrolments (account_id, service, roles) values ($1, 'AUCTION', $2)`;
    undo.push(() => books.rows(enrol, [other, ['MARKET_MAKER']]));
    const strike = 'delete from identity.enrolments where account_id = $1';
    const second = await listening(await floor.newToken('load-maker-60'));
    expect(await endsWithin(second, () => books.rows(strike, [other]))).toBe(UNAUTHORIZED);
  });

  it('stays open when its account is suspended, which only may not quote', async () => {
    const [originator, maker] = (await floor.traders('load-originator-2', 'load-maker-58')) as [
      Trader,
      Trader,
    ];
    const { auction_id: id } = await originator.opens(auctionBody(floor.contract('venue_c', 5), [maker]));
    const client = await floor.listen('load-maker-58');
    const suspend = 'update control.accounts_policy set suspended = $2 where account_id = $1';
    undo.push(() => books.rows(suspend, [maker.accountId, false]));
    await books.rows(suspend, [maker.accountId, true]);
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

  it('is told that the end is near, and closed 4401 when it has come', async () => {
    const token = briefly(await floor.token('load-maker-3'), 3);
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
  it('puts another token of the account in the place of the first, whose end then changes nothing', async () => {
    const token = await floor.newToken('load-maker-4');
    const first = briefly(token, 3);
    const client = await listening(first);
    await client.subscribe();
    await client.untilType('session_expiring');
    const { access_token: second } = await refresh(token);
    const reply = await client.command('auth.refresh', { token: second, idempotency_key: undefined });
    const { status, result } = reply as Ack<{ session_expires_at: string }>;
    expect(status).toBe(200);
    expect(Date.parse(result.session_expires_at)).toBe((claimsOf(second).exp as number) * 1_000);
    await sleep((claimsOf(first).exp as number) * 1_000 + 1_000 - Date.now());
    expect(await client.ask('ping')).toMatchObject({ type: 'pong' });
    // The token that it holds now decides, and no other.
    await floor.anybody.as(token).send('POST', '/auth/logout');
    const logout = (): Promise<unknown> => floor.anybody.as(second).send('POST', '/auth/logout');
    await sleep(REVOKED_WITHIN_MS);
    expect(client.closed).toBeUndefined();
    expect(await endsWithin(client, logout)).toBe(UNAUTHORIZED);
  });

  it.each<[string, () => Promise<string>, string]>([
    ['of somebody else', () => floor.token('load-maker-5'), '403 forbidden'],
    ['that has expired', async () => briefly(await floor.token('load-maker-4'), -5), '401 unauthorized'],
    ['that is none', () => Promise.resolve('a.b.c'), '401 unauthorized'],
    [
      'that has been revoked',
      async () => {
        const revoked = await floor.newToken('load-maker-4');
        await floor.anybody.as(revoked).send('POST', '/auth/logout');
        return revoked;
      },
      '401 unauthorized',
    ],
  ])('refuses a token %s, and the stream goes on with its own', async (_, token, expected) => {
    const client = await floor.listen('load-maker-4');
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
  let quick: StreamFloor;

  beforeAll(async () => {
    quick = await quickStreamFloor();
  }, 60_000);

  afterAll(() => {
    quick.close();
  });

  it('come at the pace that was announced, with a token to go on with', async () => {
    const client = await quick.listen('load-maker-1');
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
      expect(time - times[index]!).toBeGreaterThanOrEqual(QUICK_HEARTBEAT_MS - 50);
      expect(time - times[index]!).toBeLessThan(10 * QUICK_HEARTBEAT_MS);
    }
    const again = await quick.goesOn('load-maker-1', client, { gateway: 1 });
    expect(again.frames[0]).toMatchObject({ type: 'welcome', resumed: true, subscriptions: [] });
  });

  it('are life enough: who answers pings stays, who does not is closed 4408', async () => {
    const token = await quick.token('load-maker-1');
    const [dead, alive] = [await quick.open({ token, answersPings: false }), await quick.open({ token })];
    await Promise.all([dead.hello(), alive.hello()]);
    const since = performance.now();
    expect((await dead.untilClosed()).code).toBe(4408);
    expect(performance.now() - since).toBeGreaterThanOrEqual(2.5 * QUICK_HEARTBEAT_MS);
    expect(alive.closed).toBeUndefined();
    expect(await alive.ask('ping')).toMatchObject({ type: 'pong' });
  });

  it('are not needed by a client that speaks', async () => {
    const client = await quick.open({ token: await quick.token('load-maker-1'), answersPings: false });
    await client.hello();
    const until = performance.now() + 6 * QUICK_HEARTBEAT_MS;
    while (performance.now() < until) {
      expect(await client.ask('ping')).toMatchObject({ type: 'pong' });
      await sleep(QUICK_HEARTBEAT_MS / 5);
    }
    expect(client.closed).toBeUndefined();
  });

  it('a gateway that is told to stop says goaway, closes 4503, and takes no new streams', async () => {
    const [first, idle] = [
      await quick.listen('load-maker-2', {}, { gateway: 1 }),
      await quick.listen('load-maker-2'),
    ];
    await first.subscribe();
    const pid = quick.cluster.kill('gateway-1', 'SIGTERM');
    expect(await first.untilType('goaway')).toEqual({ type: 'goaway', reason: expect.stringMatching(/./) });
    await expect(quick.listen('load-maker-2', {}, { gateway: 1 })).rejects.toMatchObject({
      status: 503,
      text: '{"error":"draining"}',
    });
    // A moment to finish what is under way.
    expect(await first.ask('ping')).toMatchObject({ type: 'pong' });
    expect((await first.untilClosed()).code).toBe(4503);
    expect(idle.closed).toBeUndefined();
    const elsewhere = await quick.goesOn('load-maker-2', first, { gateway: 0 });
    expect(elsewhere.frames[0]).toMatchObject({ resumed: true });
    await quick.cluster.restartOf('gateway-1', pid);
    const back = await quick.goesOn('load-maker-2', elsewhere, { gateway: 1 });
    expect(back.frames[0]).toMatchObject({ resumed: true });
  });
});
