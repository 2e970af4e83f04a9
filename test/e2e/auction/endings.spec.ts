import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { AuctionJson, QuoteJson, TimelineEntryJson } from '#libs/client/wire.js';
import {
  auctionBody,
  CONTRACT,
  kinds,
  only,
  sharedFloor,
  type Trader,
  type TradingFloor,
  untilPast,
  verdict,
} from '../trading-floor.js';

/** What remains of an auction after its end. */
interface Ending {
  readonly opened: AuctionJson;
  readonly quotes: readonly QuoteJson[];
  readonly seen: AuctionJson;
  readonly told: readonly TimelineEntryJson[];
  readonly makerSees: readonly AuctionJson[];
  readonly makerTold: readonly (readonly TimelineEntryJson[])[];
}

type Quoting = (opened: AuctionJson, makers: readonly Trader[]) => Promise<QuoteJson[]>;

let floor: TradingFloor;
let originator: Trader;
let makers: Trader[];

async function ending(
  differing: Record<string, unknown>,
  quoting: Quoting,
  finalStatus: string,
): Promise<Ending> {
  const body = auctionBody(floor.contract('venue_c', 1), makers, { duration_ms: 1_500, ...differing });
  const opened = await originator.opens(body);
  const quotes = await quoting(opened, makers);
  await untilPast(opened.closes_at);
  const seen = await originator.until(opened.auction_id, finalStatus);
  return {
    ...{ opened, quotes, seen },
    told: await originator.timeline(opened.auction_id),
    makerSees: await Promise.all(makers.map((maker) => maker.view(opened.auction_id))),
    makerTold: await Promise.all(makers.map((maker) => maker.timeline(opened.auction_id))),
  };
}

beforeAll(async () => {
  floor = await sharedFloor();
  originator = await floor.newTrader('originator');
  makers = await floor.newTraders('maker', 'maker', 'maker');
}, 60_000);

afterAll(() => {
  floor.close();
});

describe('an auction without a winner', () => {
  const endings = new Map<string, Ending>();

  beforeAll(async () => {
    const noQuotes: Quoting = () => Promise.resolve([]);
    const tooDear: Quoting = async ({ auction_id: id }, [first]) => [await first!.quotes(id, 510_000, 10)];
    const tooSmall: Quoting = async ({ auction_id: id }, [first, second]) => [
      await first!.quotes(id, 400_000, 6),
      await second!.quotes(id, 410_000, 3),
    ];
    const wholeWithSmall = { min_fill_quantity_atoms: 10 * CONTRACT, allocation: 'SPLIT' };
    const results = await Promise.all([
      ending({}, noQuotes, 'NO_AWARD'),
      ending({ limit_price_atoms: 500_000 }, tooDear, 'NO_AWARD'),
      ending({}, tooSmall, 'NO_AWARD'),
      ending(wholeWithSmall, tooSmall, 'NO_AWARD'),
    ]);
    ['NO_QUOTES', 'RESERVE_NOT_MET', 'MINIMUM_NOT_MET', 'MINIMUM_NOT_MET of a split'].forEach(
      (name, index) => {
        endings.set(name, results[index]!);
      },
    );
  }, 30_000);

  it.each([...'NO_QUOTES RESERVE_NOT_MET MINIMUM_NOT_MET'.split(' '), 'MINIMUM_NOT_MET of a split'])(
    'gives its originator the reason %s',
    (name) => {
      const { seen, told, opened } = endings.get(name)!;
      const at = { occurred_at: opened.closes_at, actor: 'SYSTEM' };
      expect(told.slice(1)).toEqual([
        { seq: 2, kind: 'AUCTION_CLOSED', ...at, data: {} },
        { seq: 3, kind: 'AUCTION_NOT_AWARDED', ...at, data: { reason: name.split(' ')[0] } },
        { seq: 4, kind: 'AUCTION_COMPLETED', ...at, data: { status: 'NO_AWARD' } },
      ]);
      expect(seen).toMatchObject({
        status: 'NO_AWARD',
        phase: 'COMPLETED',
        completed_at: opened.closes_at,
        view_version: 4,
      });
      expect(seen).not.toHaveProperty('award');
    },
  );

  it('is NO_AWARD for makers with an active quote, and just over for the others', () => {
    const statusesOf = (name: string): string[] => endings.get(name)!.makerSees.map(({ status }) => status);
    expect(statusesOf('NO_QUOTES')).toEqual(['COMPLETED', 'COMPLETED', 'COMPLETED']);
    expect(statusesOf('RESERVE_NOT_MET')).toEqual(['NO_AWARD', 'COMPLETED', 'COMPLETED']);
    expect(statusesOf('MINIMUM_NOT_MET')).toEqual(['NO_AWARD', 'NO_AWARD', 'COMPLETED']);
    const { makerSees, makerTold, quotes } = endings.get('RESERVE_NOT_MET')!;
    expect(makerSees[0]!.my_quote).toMatchObject({
      status: 'NOT_AWARDED',
      result: { awarded_quantity_atoms: 0, reason: 'NO_AWARD' },
    });
    expect(only(makerTold[0]!, 'QUOTE_NOT_AWARDED').data).toEqual({
      quote_id: quotes[0]!.quote_id,
      reason: 'NO_AWARD',
    });
    expect(makerTold[0]!.at(-1)!.data).toEqual({ status: 'NO_AWARD' });
  });
});

describe('an auction that its originator cancels', () => {
  it('is over for all parties, with the reason only for the originator', async () => {
    const [first, second] = makers;
    const { auction_id: id } = await originator.opens(auctionBody(floor.contract('venue_c', 1), makers));
    await first!.quotes(id, 500_000, 10);
    const cancelled = await originator.cancel(id, { reason: 'changed our mind' });
    expect([cancelled.status, cancelled.body.status, cancelled.body.phase]).toEqual([
      200,
      'CANCELLED',
      'COMPLETED',
    ]);
    const { cancelled_at: at, ...cancellation } = cancelled.body.cancellation!;
    expect(cancellation).toEqual({ cancelled_by: 'ORIGINATOR', reason: 'changed our mind' });
    expect(cancelled.body.completed_at).toBe(at);
    expect(cancelled.body).not.toHaveProperty('closed_at');

    const seen = await first!.view(id);
    expect([seen.status, seen.cancellation, seen.completed_at]).toEqual([
      'CANCELLED',
      { cancelled_at: at },
      at,
    ]);
    expect(seen.my_quote!.status).toBe('RELEASED');
    expect((await originator.timeline(id)).slice(1)).toEqual([
      {
        seq: 2,
        kind: 'AUCTION_CANCELLED',
        occurred_at: at,
        actor: 'SELF',
        data: { reason: 'changed our mind' },
      },
      { seq: 3, kind: 'AUCTION_COMPLETED', occurred_at: at, actor: 'SYSTEM', data: { status: 'CANCELLED' } },
    ]);
    expect((await second!.timeline(id)).slice(2)).toEqual([
      { seq: 3, kind: 'AUCTION_CANCELLED', occurred_at: at, actor: 'ORIGINATOR', data: {} },
      { seq: 4, kind: 'AUCTION_COMPLETED', occurred_at: at, actor: 'SYSTEM', data: { status: 'CANCELLED' } },
    ]);
    expect(kinds(await first!.timeline(id))).toEqual([
      ...[
        'AUCTION_OPENED',
        'INVITATION_RECEIVED',
        'QUOTE_ACCEPTED',
        'AUCTION_CANCELLED',
        'AUCTION_COMPLETED',
      ],
    ]);
    expect(verdict(await second!.submit(id, { price_atoms: 500_000, quantity_atoms: CONTRACT }))).toBe(
      '422 AUCTION_NOT_OPEN',
    );
    expect(verdict(await originator.cancel(id))).toBe('422 AUCTION_NOT_OPEN');
  });
});

describe('a close', () => {
  it('refuses commands at or after closes_at, before and after the award', async () => {
    const [first, second] = makers;
    const opened = await originator.opens(
      auctionBody(floor.contract('venue_c', 1), makers, { duration_ms: 1_000 }),
    );
    const id = opened.auction_id;
    const quote = await first!.quotes(id, 500_000, 10);
    await untilPast(opened.closes_at, 2);
    const late = await Promise.all([
      second!.submit(id, { price_atoms: 400_000, quantity_atoms: 10 * CONTRACT }),
      first!.revise(quote, { price_atoms: 400_000 }),
      first!.withdraw(quote),
      originator.cancel(id),
    ]);
    expect(late.map(verdict)).toEqual(late.map(() => '422 AUCTION_NOT_OPEN'));
    const settled = await originator.until(id, 'SETTLED');
    expect(settled.award!.average_price_atoms).toBe(500_000);
  });
});

describe('a quote that expires', () => {
  it('does not count from that instant on, and leaves room for another', async () => {
    const [first, second] = makers;
    const opened = await originator.opens(
      auctionBody(floor.contract('venue_c', 1), makers, { duration_ms: 2_500 }),
    );
    const id = opened.auction_id;
    const expiresAt = new Date(Date.now() + 700).toISOString();
    const short = await first!.quotes(id, 400_000, 10, { expires_at: expiresAt });
    await second!.quotes(id, 500_000, 10);
    expect(Date.parse(short.expires_at!)).toBe(Date.parse(expiresAt));

    await untilPast(expiresAt, 150);
    const [expired] = await first!.myQuotes(id);
    expect([expired!.status, expired!.updated_at]).toEqual(['EXPIRED', short.expires_at]);
    const gone = only(await first!.timeline(id), 'QUOTE_EXPIRED');
    expect([gone.actor, gone.occurred_at, gone.data]).toEqual([
      'SYSTEM',
      short.expires_at,
      { quote: expired },
    ]);
    expect(verdict(await first!.withdraw(short))).toBe('422 QUOTE_NOT_WITHDRAWABLE');
    expect(verdict(await first!.revise(short, { price_atoms: 410_000 }))).toBe('422 QUOTE_NOT_REVISABLE');
    const replacement = await first!.quotes(id, 490_000, 10);
    expect(replacement.quote_id).not.toBe(short.quote_id);

    const settled = await originator.until(id, 'SETTLED');
    expect(settled.award!.average_price_atoms).toBe(490_000);
    expect((await first!.myQuotes(id)).map(({ status }) => status).sort()).toEqual(['EXPIRED', 'SETTLED']);
  });

  it('must expire in the future', async () => {
    const { auction_id: id } = await originator.opens(auctionBody(floor.contract('venue_c', 1), makers));
    const past = {
      price_atoms: 500_000,
      quantity_atoms: CONTRACT,
      expires_at: '2026-01-01T00:00:00.000000000Z',
    };
    expect(verdict(await makers[0]!.submit(id, past))).toBe('422 INVALID_TERMS');
    await originator.cancel(id);
  });
});

describe('priority among equal prices', () => {
  it('goes to the earlier quote; a smaller size keeps it, a new price or a larger size loses it', async () => {
    const [first, second, third] = makers;
    const opened = await originator.opens(
      auctionBody(floor.contract('venue_c', 1), makers, { duration_ms: 2_000, allocation: 'SPLIT' }),
    );
    const id = opened.auction_id;
    const raised = await first!.quotes(id, 500_000, 4);
    const lowered = await second!.quotes(id, 500_000, 9);
    await third!.quotes(id, 500_000, 4);
    await second!.revise(lowered, { quantity_atoms: 5 * CONTRACT });
    await first!.revise(raised, { quantity_atoms: 5 * CONTRACT });
    const { award } = await originator.until(id, 'SETTLED');
    // second 5, then third 4, and the rest to the first, who raised its size last.
    expect(award!.awards!.map(({ quantity_atoms: quantity }) => quantity / CONTRACT)).toEqual([5, 4, 1]);
    expect((await first!.view(id)).my_quote!.result).toMatchObject({ awarded_quantity_atoms: CONTRACT });
  });
});

describe('withdraw-all', () => {
  it('withdraws every quote on all shards, or those of some auctions or one venue, and names those that remain', async () => {
    const [maker] = makers;
    const open = (venue: string, policy = 'FREE'): Promise<AuctionJson> =>
      originator.opens(
        auctionBody(floor.contract(venue, 1), [maker!], {
          quote_revision_policy: policy,
          duration_ms: 30_000,
        }),
      );
    const auctions = await Promise.all([
      ...['venue_a', 'venue_a', 'venue_a', 'venue_c', 'venue_c', 'venue_c'].map((venue) => open(venue)),
      open('venue_c', 'FINAL'),
    ]);
    const quotes = await Promise.all(auctions.map(({ auction_id: id }) => maker!.quotes(id, 500_000, 1)));
    const ids = quotes.map(({ quote_id: id }) => id);
    const everything = async (
      body: object,
    ): Promise<{ withdrawn: string[]; rest: unknown; shards: unknown }> => {
      const answer = await maker!.api.post<Record<string, unknown>>('/v1/quotes/withdraw-all', body);
      expect(answer.status).toBe(200);
      const {
        withdrawn,
        not_withdrawable: rest,
        shards,
      } = answer.body as { withdrawn: string[] } & typeof answer.body;
      return { withdrawn: [...withdrawn].sort(), rest, shards };
    };
    const one = await everything({ auction_ids: [auctions[0].auction_id] });
    expect([one.withdrawn, one.rest]).toEqual([[ids[0]], []]);
    const venue = await everything({ venue: 'venue_a' });
    expect([venue.withdrawn, venue.rest]).toEqual([ids.slice(1, 3).sort(), []]);
    const rest = await everything({});
    expect(rest.withdrawn).toEqual(ids.slice(3, 6).sort());
    expect(rest.rest).toEqual([{ quote_id: ids[6], error: 'QUOTE_NOT_WITHDRAWABLE' }]);
    expect(rest.shards).toEqual([0, 1, 2].map((shard) => ({ shard, status: expect.any(String) })));
    const states = await Promise.all(auctions.map(({ auction_id: id }) => maker!.myQuotes(id)));
    expect(states.map(([quote]) => [quote!.status, quote!.withdrawn_by])).toEqual([
      ...ids.slice(0, 6).map(() => ['WITHDRAWN', 'MARKET_MAKER']),
      ['ACTIVE', undefined],
    ]);
    await Promise.all(auctions.map(({ auction_id: id }) => originator.cancel(id)));
  });
});
