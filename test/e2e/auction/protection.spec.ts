import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { ApiClient, type ApiAnswer } from '#libs/client/api-client.js';
import { eventually } from '#libs/testing/eventually.js';
import type { AuctionJson, QuoteJson } from '#libs/client/wire.js';
import { type StreamFloor, streamFloor } from '../stream-floor.js';
import { auctionBody, CONTRACT, mustBe, verdict, type Trader } from '../trading-floor.js';

jest.setTimeout(60_000);

const SETTINGS = {
  window_ms: 60_000,
  max_awards: 1,
  max_award_notional_atoms: 1_000_000_000_000,
  frozen_ms: 60_000,
};
const SHARDS = ['0', '1', '2'];
const ROUNDS = 3;

let floor: StreamFloor;
let originator: Trader;
let maker: Trader;

beforeAll(async () => {
  floor = await streamFloor();
  [originator, maker] = await floor.newTraders('originator', 'maker');
});
afterAll(() => {
  floor.close();
});
afterEach(async () => {
  await sets({});
  await resets();
});

async function sets(settings: object): Promise<void> {
  expect(mustBe(200, await maker.api.send('PUT', '/v1/me/protection', { body: settings }))).toEqual(settings);
}

async function resets(): Promise<void> {
  mustBe(200, await maker.api.post('/v1/me/protection/reset', undefined, null));
}

function opens(
  differing: Readonly<Record<string, unknown>> = {},
  invited: Trader = maker,
): Promise<AuctionJson> {
  return originator.opens(auctionBody(floor.contract('venue_a', 2), [invited], differing));
}

/** Auctions on every shard: the first character of an id is its owner's. */
async function onEveryShard(differing: Readonly<Record<string, unknown>>): Promise<AuctionJson[]> {
  const found = new Map<string, AuctionJson>();
  while (found.size < SHARDS.length) {
    const auction = await opens(differing);
    found.set(auction.auction_id.charAt(0), auction);
  }
  return [...found.values()];
}

function submits({ auction_id: id }: AuctionJson): Promise<ApiAnswer<QuoteJson>> {
  return maker.submit(id, { price_atoms: 500_000, quantity_atoms: CONTRACT });
}

/** Returns once a check succeeds; checks are not delayed. */
async function until(isSo: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + 20_000;
  while (!(await isSo())) if (performance.now() > deadline) throw new Error('the condition was never met');
}

async function hasWon({ auction_id: id }: AuctionJson): Promise<boolean> {
  return (await maker.view(id)).award !== undefined;
}

async function isWithdrawn({ auction_id: id }: AuctionJson): Promise<boolean> {
  return (await maker.myQuotes(id))[0]?.status === 'WITHDRAWN';
}

describe("a maker's protection that has tripped", () => {
  it.each([
    ['the award', hasWon],
    ['the withdrawal of another quote', isWithdrawn],
  ] as const)(
    'refuses quotes and preflights on every shard from the moment that %s is seen',
    async (what, isSeen) => {
      for (let round = 0; round < ROUNDS; round += 1) {
        await resets();
        await sets(SETTINGS);
        const free = await onEveryShard({});
        const firm = await onEveryShard({ quote_revision_policy: 'FINAL' });
        const standing = await opens();
        const won = await opens({ duration_ms: 1_500 });
        for (const { auction_id: id } of [standing, won]) await maker.quotes(id, 500_000, 10);
        await until(() => isSeen(what === 'the award' ? won : standing));
        const answers = await Promise.all([
          ...[...free, ...firm].map(submits),
          ...[...free, ...firm].map(({ auction_id: id }) => maker.preflightQuote(id, 500_000, CONTRACT)),
        ]);
        expect(answers.map(verdict)).toEqual(answers.map(() => '422 MMP_FROZEN'));
      }
    },
  );
});

it('that trips by notional refuses on all paths: other gateways, streams, revisions', async () => {
  const { password } = floor.cluster.file.demo;
  const elsewhere = await new ApiClient(floor.gatewayUrl(1)).login(`${maker.name}@demo.sotto`, password);
  const stream = await floor.listen(maker.name, {}, { gateway: 1 });
  await sets({ ...SETTINGS, max_awards: 1_000, max_award_notional_atoms: 5_000_000 });
  const [free, improving] = [await opens(), await opens({ quote_revision_policy: 'IMPROVE_ONLY' })];
  const standing = await maker.quotes(improving.auction_id, 500_000, 1);
  const won = await opens({ duration_ms: 1_500 });
  await maker.quotes(won.auction_id, 500_000, 10);
  await until(() => hasWon(won));
  const terms = { price_atoms: 500_000, quantity_atoms: CONTRACT };
  const answers = await Promise.all([
    elsewhere.post(`/v1/auctions/${free.auction_id}/quotes`, terms),
    maker.revise(standing, { ...terms, price_atoms: 490_000 }),
  ]);
  expect(answers.map(verdict)).toEqual(['422 MMP_FROZEN', '422 MMP_FROZEN']);
  const overStream = await stream.command('quote.submit', {
    auction_id: free.auction_id,
    ...terms,
    idempotency_key: randomUUID(),
  });
  expect(overStream).toMatchObject({ type: 'reject', status: 422, error: 'MMP_FROZEN' });
  elsewhere.close();
  // A quote that may not be withdrawn stays unchanged.
  expect((await maker.myQuotes(improving.auction_id))[0]).toMatchObject({
    status: 'ACTIVE',
    price_atoms: 500_000,
  });
});

describe('protection that is switched off', () => {
  it('reads as none and counts nothing, while an active freeze runs to its end', async () => {
    await sets(SETTINGS);
    const first = await opens({ duration_ms: 1_500 });
    await maker.quotes(first.auction_id, 500_000, 10);
    await until(() => hasWon(first));
    const free = await opens();
    await sets({});
    expect((await maker.api.get('/v1/me/protection')).body).toEqual({});
    expect(verdict(await submits(free))).toBe('422 MMP_FROZEN');
    await resets();
    await eventually(async () => expect(verdict(await submits(free))).toBe('201'));
    const second = await opens({ duration_ms: 1_500 });
    await maker.quotes(second.auction_id, 500_000, 10);
    await until(() => hasWon(second));
    expect(verdict(await submits(await opens()))).toBe('201');
  });

  it('is not switched off if only some of its fields are set', async () => {
    const partly = await maker.api.send('PUT', '/v1/me/protection', { body: { window_ms: 1 } });
    expect(verdict(partly)).toBe('400 invalid_json');
  });
});

it("the maximum of a preflight is a multiple of the step, and counts the own quote's hold as free", async () => {
  // For a maker that has won nothing: a settlement between the two preflights would change its balance.
  const fresh = await floor.newTrader('maker');
  const auction = await opens({}, fresh);
  const asked = async (): Promise<number> => {
    const told = mustBe(200, await fresh.preflightQuote(auction.auction_id, 330_000, CONTRACT));
    return Number(told.maximum_executable_quantity_atoms);
  };
  const before = await asked();
  expect(before % auction.quantity_step_atoms).toBe(0);
  await fresh.quotes(auction.auction_id, 330_000, 5);
  expect(await asked()).toBe(before);
});
