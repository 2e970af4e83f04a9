import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { startCluster, type OwnedCluster } from '#libs/testing/cluster/cluster.js';
import { eventually } from '#libs/testing/eventually.js';
import type { StreamEvent } from '#libs/client/stream-wire.js';
import type { AuctionJson, QuoteJson } from '#libs/client/wire.js';
import { StreamFloor } from '../stream-floor.js';
import { StreamFollower } from '../stream-follower.js';
import { timelinesOf } from '../stream-record.js';
import { auctionBody, CONTRACT, INSTANT, mustBe, type Trader } from '../trading-floor.js';

const MAKERS = 4;
const VICTIMS = ['gateway-0', 'owner-0', 'gateway-1', 'owner-1', 'owner-2', 'settler', 'gateway-0'];
/** The number of accepted quotes between two kills. */
const QUOTES_BETWEEN = 12;
const QUOTE_ENDS = ['QUOTE_WITHDRAWN', 'QUOTE_EXPIRED', 'QUOTE_AWARDED', 'QUOTE_NOT_AWARDED'];
const AUCTION_ENDS = ['AUCTION_CANCELLED', 'AUCTION_VOIDED'];

jest.setTimeout(180_000);

let cluster: OwnedCluster;
let floor: StreamFloor;
let originators: Trader[];
let operator: Trader;
let followers: StreamFollower[];
let isGoing = true;
const opened: AuctionJson[] = [];

beforeAll(async () => {
  const settings = { LIMITS_FACTOR: '50', LOAD_ACCOUNTS: `makers:${MAKERS},originators:3` };
  cluster = await startCluster({ env: { GATEWAYS: '2', OWNER_TIMEOUT_MS: '2000', ...settings } });
  floor = new StreamFloor(cluster);
  originators = await floor.traders('load-originator-1', 'load-originator-2', 'load-originator-3');
  operator = await floor.trader('operator-1');
  const makers = await floor.traders(
    ...Array.from({ length: MAKERS }, (_, index) => `load-maker-${index + 1}`),
  );
  followers = await Promise.all(makers.map((maker) => new StreamFollower(floor, maker).start()));
  const working = [...originators.map((originator) => originate(originator)), ...followers.map(disconnect)];
  for (const victim of VICTIMS) {
    await someQuotes();
    const pid = cluster.kill(victim);
    await cluster.restartOf(victim, pid);
  }
  await someQuotes();
  isGoing = false;
  await Promise.all(working);
  for (const { auction_id: id } of opened) await untilOver(id);
}, 180_000);

afterAll(async () => {
  await Promise.all(followers.map((follower) => follower.stop()));
  floor.close();
  await cluster.stop();
});

/** Ignores errors: a process may be down at this moment. */
async function attempt<T>(act: () => Promise<T>): Promise<T | undefined> {
  try {
    return await act();
  } catch {
    return undefined;
  }
}

async function someQuotes(): Promise<void> {
  const accepted = (): number =>
    followers.reduce(
      (sum, { told }) => sum + told.events.filter(({ kind }) => kind === 'QUOTE_ACCEPTED').length,
      0,
    );
  const before = accepted();
  await eventually(() => expect(accepted()).toBeGreaterThanOrEqual(before + QUOTES_BETWEEN), 40_000);
}

function oneOf<T>(choices: readonly T[]): T {
  return choices[randomInt(choices.length)]!;
}

/** Short auctions one after another, each with a different end. */
async function originate(originator: Trader): Promise<void> {
  while (isGoing) {
    const makers = followers.map(({ trader }) => trader);
    const body = auctionBody(floor.contract('venue_c', randomInt(4)), makers, {
      duration_ms: randomInt(1_500, 3_500),
      allocation: oneOf(['SPLIT', 'SINGLE_WINNER']),
      quote_revision_policy: oneOf(['FREE', 'FREE', 'FREE', 'IMPROVE_ONLY']),
      ...oneOf([{}, {}, { limit_price_atoms: 400_000 }]),
      execution_deadline_ms: 8_000,
    });
    const answer = await attempt(() => originator.create(body));
    if (answer?.status === 201) {
      opened.push(answer.body);
      const { auction_id: id } = answer.body;
      const quoting = followers.map((follower) => attempt(() => quote(follower, answer.body)));
      await Promise.race([Promise.all(quoting), sleep(400)]);
      const ending = randomInt(6);
      if (ending === 0) await attempt(() => originator.cancel(id));
      if (ending === 1)
        await attempt(() => operator.api.post(`/v1/ops/auctions/${id}/void`, { reason: 'by chance' }));
    }
    await sleep(50);
  }
}

async function quote(
  { trader }: StreamFollower,
  { auction_id: id, closes_at: closesAt }: AuctionJson,
): Promise<void> {
  const soon = new Date(Math.min(Date.now() + randomInt(300, 1_500), Date.parse(closesAt) - 1)).toISOString();
  const expiry = randomInt(4) === 0 ? { expires_at: soon } : {};
  const standing = await trader.quotes(id, randomInt(300, 500) * 1_000, randomInt(1, 11), expiry);
  const next = randomInt(5);
  if (next === 0) await trader.withdraw(standing);
  if (next === 1) await trader.revise(standing, { price_atoms: 250_000 });
  if (next === 2) await trader.api.post('/v1/quotes/withdraw-all', {});
}

/** Quotes on short streams that end without bye. */
async function disconnect({ trader }: StreamFollower): Promise<void> {
  while (isGoing) {
    await attempt(async () => {
      const hello = { cancel_on_disconnect: { grace_ms: randomInt(500) } };
      const client = await floor.listen(trader.name, hello, { gateway: randomInt(2) });
      const auction = opened.at(-1);
      if (auction === undefined) return;
      const terms = { price_atoms: 450_000, quantity_atoms: CONTRACT };
      await client.command('quote.submit', { auction_id: auction.auction_id, ...terms });
      client.kill();
    });
    await sleep(randomInt(100, 400));
  }
}

function untilOver(auctionId: string): Promise<void> {
  return eventually(async () => {
    for (const originator of originators) {
      const answer = await originator.get(auctionId);
      if (answer.status !== 404) expect(mustBe(200, answer).phase).toBe('COMPLETED');
    }
  }, 40_000);
}

/** All quotes that the maker ever had, as the service lists them. */
async function quotesOf(trader: Trader): Promise<QuoteJson[]> {
  const quotes: QuoteJson[] = [];
  for (let cursor = ''; ;) {
    const path = `/v1/quotes?limit=50${cursor}`;
    const page = mustBe(200, await trader.api.get<{ quotes: QuoteJson[]; next_cursor?: string }>(path));
    quotes.push(...page.quotes);
    if (page.next_cursor === undefined) return quotes;
    cursor = `&cursor=${page.next_cursor}`;
  }
}

/** The events that end this quote: its own, or the end of its auction while it was active. */
function endsOf(
  events: readonly StreamEvent[],
  { quote_id: quoteId, auction_id: auctionId }: QuoteJson,
): StreamEvent[] {
  const own = events.filter(({ kind, data }) => {
    const named = (data.quote as QuoteJson | undefined)?.quote_id ?? data.quote_id;
    return QUOTE_ENDS.includes(kind) && named === quoteId;
  });
  const ofAuction = events.filter(
    ({ kind, auction_id: id }) => AUCTION_ENDS.includes(kind) && id === auctionId,
  );
  const endedBefore = (end: StreamEvent): boolean => own.some(({ seq }) => seq < end.seq);
  return [...own, ...ofAuction.filter((end) => !endedBefore(end))];
}

describe('while gateways and owners die', () => {
  it('all followers were cut off, and resumed', () => {
    for (const { ends, faults, memory } of followers) {
      expect(ends.length).toBeGreaterThanOrEqual(1);
      expect([faults, memory.faults]).toEqual([[], []]);
    }
  });

  it('every accepted quote has exactly one terminal event on the stream of its maker', async () => {
    const seen = new Map<string, number>();
    for (const follower of followers) {
      const quotes = await quotesOf(follower.trader);
      expect(quotes.length).toBeGreaterThan(QUOTES_BETWEEN);
      await follower.hears(
        await timelinesOf(follower.trader, new Set(quotes.map(({ auction_id: id }) => id))),
      );
      const { events, resyncs } = follower.told;
      expect(resyncs).toEqual([]);
      const accepted = events
        .filter(({ kind }) => kind === 'QUOTE_ACCEPTED')
        .map(({ data }) => (data.quote as QuoteJson).quote_id);
      expect([...accepted].sort()).toEqual(quotes.map(({ quote_id: id }) => id).sort());
      for (const given of quotes) {
        const ends = endsOf(events, given);
        expect([given.quote_id, given.status, ends.map(({ kind }) => kind)]).toEqual([
          ...[given.quote_id, given.status, [expect.any(String)]],
        ]);
        expect(ends[0]!.occurred_at).toMatch(INSTANT);
        seen.set(ends[0]!.kind, (seen.get(ends[0]!.kind) ?? 0) + 1);
      }
    }
    for (const kind of [...QUOTE_ENDS, 'AUCTION_CANCELLED'])
      expect([kind, seen.has(kind)]).toEqual([kind, true]);
  });
});
