import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { AuctionJson, TimelineEntryJson, TimelinePage } from '#libs/client/wire.js';
import {
  auctionBody,
  CONTRACT,
  kinds,
  mustBe,
  sharedFloor,
  type Trader,
  type TradingFloor,
} from '../trading-floor.js';

const REVISIONS = 8;

let floor: TradingFloor;
let originator: Trader;
let maker: Trader;
let live: AuctionJson;
let over: AuctionJson;

/** A long history: many revisions and a refusal of each kind. */
async function talkative(millis: number): Promise<AuctionJson> {
  const opened = await originator.opens(
    auctionBody(floor.contract('venue_c', 7), [maker], { duration_ms: millis, allocation: 'SPLIT' }),
  );
  const id = opened.auction_id;
  await maker.submit(id, { price_atoms: 500_500, quantity_atoms: CONTRACT });
  let quote = await maker.quotes(id, 500_000, 1);
  await maker.revise(quote, { price_atoms: 0 });
  for (let revision = 0; revision < REVISIONS; revision += 1) {
    quote = mustBe(200, await maker.revise(quote, { price_atoms: 500_000 - revision * 1_000 }));
  }
  return opened;
}

beforeAll(async () => {
  floor = await sharedFloor();
  [originator, maker] = await floor.newTraders('originator', 'maker');
  [live, over] = await Promise.all([talkative(60_000), talkative(2_000)]);
  await originator.until(over.auction_id, 'SETTLED');
  await originator.untilCompletedRead(over.auction_id);
}, 60_000);

afterAll(async () => {
  await originator.cancel(live.auction_id);
  floor.close();
});

function page(trader: Trader, id: string, query: string): Promise<TimelinePage> {
  return trader.api
    .get<TimelinePage>(`/v1/auctions/${id}/events${query}`)
    .then((answer) => mustBe(200, answer));
}

describe.each([
  ['live', () => live],
  ['completed', () => over],
])('the timeline of a %s auction', (phase, auction) => {
  it('comes in pages that join without gap or repeat', async () => {
    const id = auction().auction_id;
    const whole = await page(maker, id, '?limit=1000');
    expect(whole).toMatchObject({ auction_id: id, role: 'MARKET_MAKER', complete: true });
    expect(whole.status).toBe(phase === 'live' ? 'OPEN' : 'SETTLED');
    expect(whole).not.toHaveProperty('next_after_seq');
    expect(whole.events.map(({ seq }) => seq)).toEqual(whole.events.map((_, index) => index + 1));
    const joined: TimelineEntryJson[] = [];
    for (let after: number | undefined = 0; after !== undefined;) {
      const part: TimelinePage = await page(maker, id, `?after_seq=${after}&limit=3`);
      expect(part.events.length).toBe(Math.min(3, whole.events.length - after));
      joined.push(...part.events);
      after = part.next_after_seq;
    }
    expect(joined).toEqual(whole.events);
    const view = await maker.view(id);
    expect(view.view_version).toBe(whole.events.length);
    expect((await page(maker, id, '?after_seq=1000')).events).toEqual([]);
    expect((await page(originator, id, '')).events).toEqual(await originator.timeline(id));
  });

  it('comes as NDJSON with its count, whatever limit is given', async () => {
    const id = auction().auction_id;
    const { events } = await page(maker, id, '?limit=1000');
    const asked = (limit: string) =>
      maker.api.get(`/v1/auctions/${id}/events?limit=${limit}`, { accept: 'application/x-ndjson' });
    const answer = await asked('3');
    for (const limit of ['1001', '0', 'all']) expect((await asked(limit)).text).toBe(answer.text);
    expect([answer.status, answer.headers['content-type']]).toEqual([200, 'application/x-ndjson']);
    expect(answer.text.endsWith('\n')).toBe(true);
    const lines = answer.text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as TimelineEntryJson);
    expect(lines).toEqual([...events, { complete: true, count: events.length }]);
  });

  it('has the refusals of its own maker, which the originator does not see', async () => {
    const told = await maker.timeline(auction().auction_id);
    const refused = told.filter(({ kind }) => kind === 'QUOTE_REJECTED');
    const message = expect.stringMatching(/./);
    expect(refused.map(({ actor, data }) => [actor, data])).toEqual([
      ['SELF', { operation: 'SUBMIT', error: 'INVALID_PRICE_TICK', message }],
      ['SELF', { operation: 'REVISE', error: 'PRICE_OUT_OF_RANGE', message, quote_id: expect.any(String) }],
    ]);
    expect(kinds(told).filter((kind) => kind === 'QUOTE_REVISED')).toHaveLength(REVISIONS);
    expect(
      kinds(await originator.timeline(auction().auction_id)).some((kind) => kind.startsWith('QUOTE_')),
    ).toBe(false);
  });
});
