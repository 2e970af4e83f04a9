import path from 'node:path';
import { randomUUID } from 'node:crypto';
import { mkdirSync, rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { type OwnedCluster, startCluster } from '#libs/testing/cluster/cluster.js';
import { eventually } from '#libs/testing/eventually.js';
import { TOUR } from '#libs/testing/interface/examples.js';
import { StreamFloor } from '../stream-floor.js';
import { auctionBody, CONTRACT, mustBe, type Trader, untilPast } from '../trading-floor.js';

/**
 * A tour through the service as `npm start` runs it, without any settings. Its recordings become the examples
 * of the documents, so all of them are of one cluster whose keys are gone with it.
 */
jest.setTimeout(120_000);

const WATCHED = { cancel_on_disconnect: { grace_ms: 5_000 } };
/** An event has a token if none was sent for this long. */
const TOKEN_EVERY_MS = 1_000;

type Fields = Readonly<Record<string, unknown>>;

let cluster: OwnedCluster;
let floor: StreamFloor;
let originators: Trader[];
let makers: Trader[];

beforeAll(async () => {
  const recordings = process.env.EXCHANGES_DIR;
  if (recordings !== undefined) {
    process.env.EXCHANGES_DIR = path.join(recordings, TOUR);
    // A second run in the same process repeats the tour.
    rmSync(process.env.EXCHANGES_DIR, { recursive: true, force: true });
    mkdirSync(process.env.EXCHANGES_DIR);
  }
  cluster = await startCluster();
  floor = new StreamFloor(cluster);
  originators = await floor.traders('originator-1', 'originator-2', 'originator-3');
  makers = await floor.traders('maker-1', 'maker-2', 'maker-3');
}, 120_000);

afterAll(async () => {
  floor.close();
  await cluster.stop();
});

const later = (ms: number): string => new Date(Date.now() + ms).toISOString().replace('Z', '000000Z');

function body(index: number, differing: Fields = {}): Fields {
  return auctionBody(floor.contract('venue_e', index), makers, {
    limit_price_atoms: 700_000,
    client_reference: 'book 3',
    ...differing,
  });
}

async function send(api: Trader['api'], method: string, where: string, sent?: unknown): Promise<Fields> {
  const answer = await api.send<Fields>(method, where, sent === undefined ? {} : { body: sent });
  expect([method, where, answer.status < 300]).toEqual([method, where, true]);
  return answer.body;
}

describe('a tour', () => {
  it('of an auction: preflight, opened, quoted, won, executed and audited', async () => {
    const [originator] = originators as [Trader];
    const [one, two, three] = makers as [Trader, Trader, Trader];
    const asked = body(0, { allocation: 'SPLIT', max_winners: 3, duration_ms: 8_000 });
    mustBe(200, await originator.preflightCreate(asked));
    const key = randomUUID();
    const { auction_id: id } = mustBe(201, await originator.create(asked, key));
    mustBe(200, await originator.create(asked, key));
    mustBe(200, await one.preflightQuote(id, 600_000, 4 * CONTRACT));
    const terms = {
      price_atoms: 600_000,
      quantity_atoms: 4 * CONTRACT,
      min_quantity_atoms: CONTRACT,
      expires_at: later(60_000),
      client_reference: 'quote 17',
    };
    const first = mustBe(201, await one.submit(id, terms, key));
    mustBe(200, await one.submit(id, terms, key));
    const better = { ...terms, price_atoms: 590_000, quantity_atoms: 5 * CONTRACT };
    mustBe(200, await one.revise(first, better));
    await two.submit(id, { price_atoms: 1, quantity_atoms: CONTRACT });
    mustBe(200, await two.withdraw(await two.quotes(id, 620_000, 3), { expected_revision: 1 }));
    await two.quotes(id, 610_000, 6);
    await three.quotes(id, 690_000, 2);
    for (const trader of [originator, one]) {
      await trader.view(id);
      await trader.timeline(id);
      await send(trader.api, 'GET', '/v1/auctions?limit=1');
    }
    await send(one.api, 'GET', '/v1/quotes?limit=2');
    const { closes_at: close } = await one.view(id);
    await untilPast(close);
    await originator.until(id, 'SETTLED');
    for (const trader of [originator, one, three]) {
      await trader.untilCompletedRead(id);
      await trader.timeline(id);
      await trader.myQuotes(id);
      await trader.api.get(`/v1/auctions/${id}/events`, { accept: 'application/x-ndjson' });
    }
    const auditor = await floor.trader('auditor-1');
    for (const where of ['', `/${id}`, `/${id}/bundle`])
      await eventually(() => send(auditor.api, 'GET', `/v1/audit/auctions${where}`));
  });

  it("of accounts' balances and settings", async () => {
    const [originator] = originators as [Trader];
    const [maker] = makers as [Trader];
    for (const where of [
      '/.well-known/jwks.json',
      '/.well-known/audit-keys.json',
      '/healthz',
      '/readyz',
      '/v1/me',
      '/v1/me/limits',
      '/v1/market-makers',
      '/v1/contracts?venue=venue_e&limit=2',
    ])
      await send(originator.api, 'GET', where);
    const group = { name: 'nearby', market_maker_ids: makers.map(({ accountId }) => accountId) };
    const { group_id: groupId } = await send(originator.api, 'POST', '/v1/groups', group);
    await send(originator.api, 'GET', '/v1/groups');
    await send(originator.api, 'PUT', `/v1/groups/${String(groupId)}`, { ...group, name: 'far away' });
    await send(originator.api, 'DELETE', `/v1/groups/${String(groupId)}`);
    const limits = { window_ms: 60_000, max_awards: 5, max_award_notional_atoms: 5e9, frozen_ms: 30_000 };
    await send(maker.api, 'PUT', '/v1/me/protection', limits);
    await send(maker.api, 'GET', '/v1/me/protection');
    await send(maker.api, 'POST', '/v1/me/protection/reset', {});
  });

  it('of auctions and quotes that end early', async () => {
    const [, second, third] = originators as [Trader, Trader, Trader];
    const [maker] = makers as [Trader];
    const cancelled = await second.opens(body(1));
    mustBe(200, await second.cancel(cancelled.auction_id, { reason: 'no longer needed' }));
    const left = await third.opens(body(2));
    await maker.quotes(left.auction_id, 500_000, 2);
    await send(maker.api, 'POST', '/v1/quotes/withdraw-all', {
      idempotency_key: randomUUID(),
      auction_ids: [left.auction_id],
      venue: 'venue_e',
    });
    const { api } = await floor.trader('operator-1');
    await send(api, 'POST', `/v1/ops/auctions/${left.auction_id}/void`, { reason: 'a market in dispute' });
    await send(api, 'POST', '/v1/ops/shards/1/drain', { reason: 'maintenance' });
    await send(api, 'POST', '/v1/ops/shards/1/resume', { reason: 'done' });
    const halt = { scope: 'VENUE', target: 'venue_d', what: ['CREATE', 'QUOTE'], reason: 'venue is away' };
    const { halt_id: haltId } = await send(api, 'POST', '/v1/ops/halts', halt);
    await send(api, 'POST', '/v1/ops/halts', halt);
    for (const where of ['shards', 'halts', 'limits', `accounts/${maker.accountId}/limits`])
      await send(api, 'GET', `/v1/ops/${where}`);
    await send(api, 'DELETE', `/v1/ops/halts/${String(haltId)}`);
    await send(api, 'GET', '/v1/ops/actions?limit=5');
  });

  it('of the stream, up to its end', async () => {
    const [, second, third] = originators as [Trader, Trader, Trader];
    await third.opens(body(4, { duration_ms: 600_000 }));
    const listening = await floor.listen('maker-2', WATCHED);
    const all = await listening.subscribe();
    await sleep(TOKEN_EVERY_MS + 100);
    const { auction_id: id } = await second.opens(body(3, { duration_ms: 600_000 }));
    await listening.untilType('event');
    await listening.subscribeTo(id, { after_seq: 0 });
    await listening.ask('unsubscribe', { subscription_id: await listening.subscribeTo(id) });
    const terms = { auction_id: id, price_atoms: 500_000, quantity_atoms: 2 * CONTRACT };
    const inTime = (): Fields => ({ not_after: later(5_000) });
    await listening.ask('quote.preflight', {
      auction_id: id,
      price_atoms: 500_000,
      max_executable_quantity_atoms: 2 * CONTRACT,
    });
    const done = await listening.command('quote.submit', { ...terms, ...inTime() });
    const { quote_id: quoteId } = (done.type === 'ack' ? done.result : {}) as Fields;
    const named = { auction_id: id, quote_id: quoteId };
    await listening.command('quote.revise', {
      ...named,
      expected_revision: 1,
      price_atoms: 490_000,
      ...inTime(),
    });
    await listening.command('quote.withdraw', { ...named, expected_revision: 2, ...inTime() });
    await listening.command('quote.withdraw', named);
    await listening.command('quote.withdraw_all', { auction_ids: [id], ...inTime() });
    await listening.ask('ping');
    await listening.ask('auth.refresh', { token: await floor.newToken('maker-2') });
    await listening.untilIt(() => listening.memory.of(all).events.length > 2, 'what was done');
    await listening.untilType('heartbeat');
    listening.kill();
    await sleep(500);
    const resumed = await floor.goesOn('maker-2', listening, {}, WATCHED);
    const owner = await floor.listen('originator-2');
    await owner.command('auction.cancel', { auction_id: id, reason: 'no longer needed', ...inTime() });
    await resumed.bye();
    expect([...listening.memory.faults, ...resumed.memory.faults]).toEqual([]);
  });

  it('of sessions, and of the service as it stops', async () => {
    const token = await floor.newToken('maker-3');
    await send(floor.anybody.as(token), 'POST', '/auth/refresh');
    await send(floor.anybody.as(token), 'POST', '/auth/logout');
    await send(floor.anybody.as(await floor.newToken('maker-3')), 'POST', '/auth/logout-all');
    const last = await floor.listen('maker-1');
    cluster.kill('gateway-0', 'SIGTERM');
    await last.untilType('goaway');
  });
});
