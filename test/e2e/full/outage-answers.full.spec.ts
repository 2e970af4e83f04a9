import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { startCluster, type OwnedCluster } from '#libs/testing/cluster/cluster.js';
import { eventually } from '#libs/testing/eventually.js';
import type { AuctionJson, QuoteJson } from '#libs/client/wire.js';
import { specs } from '../../documents/described-interface.js';
import { ServiceRecords } from '../books.js';
import { auctionBody, CONTRACT, TradingFloor, verdict, type Trader } from '../trading-floor.js';

jest.setTimeout(90_000);

let cluster: OwnedCluster;
let floor: TradingFloor;
let books: ServiceRecords;
let originator: Trader;
let maker: Trader;
let operator: Trader;
let auditor: Trader;
let auction: AuctionJson;
let quote: QuoteJson;

beforeAll(async () => {
  cluster = await startCluster({ env: { LIMITS_FACTOR: '50', OWNER_TIMEOUT_MS: '8000' } });
  floor = new TradingFloor(cluster);
  books = new ServiceRecords(cluster);
  [originator, maker, operator, auditor] = (await floor.traders(
    'originator-1',
    'maker-1',
    'operator-1',
    'auditor-1',
  )) as [Trader, Trader, Trader, Trader];
  auction = await originator.opens(body());
  quote = await maker.quotes(auction.auction_id, 500_000, 2);
}, 90_000);

afterAll(async () => {
  floor.close();
  await books.close();
  await cluster.stop();
});

function body(): Readonly<Record<string, unknown>> {
  return auctionBody(floor.contract('venue_a', 1), [maker], { duration_ms: 600_000 });
}

/** One well-formed call of each operation that asks an owner or the projections. */
function callOf(operationId: string, unknown?: string): Promise<string> | undefined {
  const id = unknown ?? auction.auction_id;
  const at = `/v1/auctions/${id}`;
  const ofQuote = `${at}/quotes/${quote.quote_id}`;
  const terms = { price_atoms: 500_000, quantity_atoms: CONTRACT };
  const calls: Readonly<Record<string, readonly [Trader, string, string, object?]>> = {
    createAuction: [originator, 'POST', '/v1/auctions', body()],
    listAuctions: [originator, 'GET', '/v1/auctions'],
    getAuction: [originator, 'GET', at],
    listAuctionEvents: [originator, 'GET', `${at}/events`],
    cancelAuction: [originator, 'POST', `${at}/cancel`, {}],
    submitQuote: [maker, 'POST', `${at}/quotes`, terms],
    reviseQuote: [maker, 'POST', `${ofQuote}/revise`, { expected_revision: 1, price_atoms: 510_000 }],
    withdrawQuote: [maker, 'POST', `${ofQuote}/withdraw`, {}],
    preflightQuote: [
      maker,
      'POST',
      `${at}/quotes/preflight`,
      { price_atoms: 500_000, max_executable_quantity_atoms: CONTRACT },
    ],
    listAuctionQuotes: [maker, 'GET', `${at}/quotes`],
    listQuotes: [maker, 'GET', '/v1/quotes'],
    getLimits: [maker, 'GET', '/v1/me/limits'],
    drainShard: [operator, 'POST', '/v1/ops/shards/0/drain', {}],
    resumeShard: [operator, 'POST', '/v1/ops/shards/0/resume', { reason: 'a test' }],
    getAccountLimits: [operator, 'GET', `/v1/ops/accounts/${maker.accountId}/limits`],
    voidAuction: [operator, 'POST', `/v1/ops/auctions/${id}/void`, { reason: 'a test' }],
    listAuditedAuctions: [auditor, 'GET', '/v1/audit/auctions'],
    getAuditedAuction: [auditor, 'GET', `/v1/audit/auctions/${id}`],
    getReplayBundle: [auditor, 'GET', `/v1/audit/auctions/${id}/bundle`],
  };
  const call = calls[operationId];
  if (call === undefined) return undefined;
  const [by, method, path, content] = call;
  const headers = method === 'POST' ? { 'idempotency-key': randomUUID() } : {};
  return by.api
    .send(method, path, { headers, ...(content === undefined ? {} : { body: content }) })
    .then(verdict);
}

/** Checks all operations whose declaration lists this code. */
async function expectEvery(code: string, which: (path: string) => boolean, unknown?: string): Promise<void> {
  const declared = specs.filter(
    ({ path, statuses }) => which(path) && statuses?.[503]?.includes(code) === true,
  );
  const told = await Promise.all(
    declared.map(async ({ operationId }) => [operationId, await callOf(operationId, unknown)] as const),
  );
  expect(Object.fromEntries(told)).toEqual(
    Object.fromEntries(declared.map(({ operationId }) => [operationId, `503 ${code}`])),
  );
}

const isAudit = (path: string): boolean => path.startsWith('/v1/audit/');

describe('every operation that declares the code answers', () => {
  it('completed_projection_unavailable while the projections are down or do not answer', async () => {
    // An owner that does not have the auction leaves it to the projections.
    const unknown = `0${randomUUID().slice(1, 14)}8${randomUUID().slice(15)}`;
    const schemas = ['completed', 'auction_history'];
    for (const schema of schemas) await books.rows(`alter schema ${schema} rename to ${schema}_away`);
    try {
      await expectEvery('completed_projection_unavailable', (path) => !isAudit(path), unknown);
    } finally {
      for (const schema of schemas) await books.rows(`alter schema ${schema}_away rename to ${schema}`);
    }
    await books.whileLocked('completed.auctions', () =>
      expectEvery('completed_projection_unavailable', isAudit, unknown),
    );
  });

  it('auction_owner_unavailable while no owner answers', async () => {
    const pids = [0, 1, 2].map((shard) => cluster.kill(`owner-${shard}`, 'SIGSTOP'));
    try {
      // Only a gateway that does not know all yet refuses streams with it: see forged-appends.spec.ts.
      await expectEvery('auction_owner_unavailable', (path) => path !== '/v1/stream');
    } finally {
      for (const pid of pids) process.kill(pid, 'SIGCONT');
      await eventually(
        async () => expect((await originator.get(auction.auction_id)).status).toBe(200),
        20_000,
      );
      // Paused owners now carry out what they were sent, in any order.
      await eventually(async () => expect(await callOf('resumeShard')).toBe('200'), 20_000);
    }
  });
});
