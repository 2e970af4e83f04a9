import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import type { ApiAnswer } from '#libs/client/api-client.js';
import type { AuctionView, QuoteView } from '#libs/client/wire.js';
import {
  auctionBody,
  CONTRACT,
  mustBe,
  only,
  plainFloor,
  sharedFloor,
  verdict,
  type Trader,
  type TradingFloor,
} from './trading-floor.js';

type Fields = Readonly<Record<string, unknown>>;

jest.setTimeout(60_000);

const LONG = 'r'.repeat(257);
let floor: TradingFloor;
let originator: Trader;
let maker: Trader;
let auction: AuctionView;
let quote: QuoteView;

beforeAll(async () => {
  floor = await sharedFloor();
  [originator, maker] = (await floor.traders('load-originator-8', 'load-maker-41')) as [Trader, Trader];
  auction = await originator.opens(body());
  quote = await maker.quotes(auction.auction_id, 500_000, 5);
}, 90_000);

afterAll(async () => {
  await originator.cancel(auction.auction_id);
  floor.close();
});

function body(differing: Fields = {}): Fields {
  return auctionBody(floor.contract('venue_c', 2), [maker], { duration_ms: 600_000, ...differing });
}

describe('a revision', () => {
  it.each([
    ['INVALID_QUANTITY_STEP', { quantity_atoms: 1_500 }],
    ['INVALID_PRICE_TICK', { price_atoms: 500_500 }],
    ['PRICE_OUT_OF_RANGE', { price_atoms: 0 }],
    ['UNAUTHORIZED_SIZE', { quantity_atoms: 11 * CONTRACT }],
    ['QUANTITY_BELOW_MINIMUM', { quantity_atoms: CONTRACT, min_quantity_atoms: 2 * CONTRACT }],
    ['INVALID_TERMS', { client_reference: LONG }],
    ['INVALID_TERMS', { expires_at: '2026-01-01T00:00:00.000000000Z' }],
  ])('is refused with %s', async (code, terms) => {
    expect(verdict(await maker.revise(quote, terms))).toBe(`422 ${code}`);
  });
});

describe('a preflight', () => {
  it.each([
    ['INVALID_QUANTITY_STEP', 500_000, 1_500],
    ['PRICE_OUT_OF_RANGE', 1_000_000, CONTRACT],
    ['UNAUTHORIZED_SIZE', 500_000, 11 * CONTRACT],
  ])('of a quote is refused with %s as the quote would be', async (code, price, quantity) => {
    expect(verdict(await maker.preflightQuote(auction.auction_id, price, quantity))).toBe(`422 ${code}`);
  });

  it.each([
    ['AUDIENCE_EMPTY', () => ({ market_maker_ids: [] })],
    ['AUDIENCE_MEMBER_UNKNOWN', () => ({ market_maker_ids: [originator.accountId] })],
    ['AUDIENCE_TOO_LARGE', () => ({ all_eligible: true })],
    ['GROUP_UNKNOWN', () => ({ group_ids: [randomUUID()] })],
  ])('of a create is refused with %s as the create would be', async (code, audience) => {
    const asked = body({ audience: audience() });
    expect(verdict(await originator.preflightCreate(asked))).toBe(`422 ${code}`);
    expect(verdict(await originator.create(asked))).toBe(`422 ${code}`);
  });
});

describe('what is too long', () => {
  it('is refused in a cancel, and in a withdraw-all', async () => {
    expect(verdict(await originator.cancel(auction.auction_id, { reason: LONG }))).toBe('422 INVALID_TERMS');
    const ids = Array.from({ length: 257 }, () => `0${randomUUID().slice(1)}`);
    expect(verdict(await maker.api.post('/v1/quotes/withdraw-all', { auction_ids: ids }))).toBe(
      '422 INVALID_TERMS',
    );
  });
});

describe('a key', () => {
  it('means one command, whatever it is', async () => {
    const [revised, withdrawn] = [randomUUID(), randomUUID()];
    const firm = await originator.opens(body({ quote_revision_policy: 'IMPROVE_ONLY' }));
    const standing = await maker.quotes(firm.auction_id, 500_000, 5);
    mustBe(200, await maker.revise(standing, { price_atoms: 490_000 }, revised));
    expect(verdict(await maker.revise(standing, { price_atoms: 480_000 }, revised))).toBe(
      '409 idempotency_key_conflict',
    );
    expect(verdict(await maker.withdraw(standing, {}, withdrawn))).toBe('422 QUOTE_NOT_WITHDRAWABLE');
    expect(verdict(await maker.withdraw(standing, { expected_revision: 1 }, withdrawn))).toBe(
      '409 idempotency_key_conflict',
    );
    const refused = only(await maker.timeline(firm.auction_id), 'QUOTE_REJECTED');
    expect(refused.data).toMatchObject({ operation: 'WITHDRAW', error: 'QUOTE_NOT_WITHDRAWABLE' });
    await originator.cancel(firm.auction_id);
  });

  it('may travel in the body, and every field may be given', async () => {
    const key = (): Fields => ({ idempotency_key: randomUUID() });
    const later = (ms: number): string => new Date(Date.now() + ms).toISOString().replace('Z', '000000Z');
    const whole = body({
      duration_ms: undefined,
      closes_at: later(120_000),
      limit_price_atoms: 600_000,
      min_fill_quantity_atoms: CONTRACT,
      allocation: 'SPLIT',
      max_winners: 4,
      quote_revision_policy: 'FREE',
      identity_policy: { originator: 'ANONYMOUS', market_makers: 'ANONYMOUS' },
      result_disclosure: 'WINNING_PRICE_AND_RANK',
      execution_deadline_ms: 30_000,
      client_reference: 'desk 7, order 1204',
      ...key(),
    });
    const post = <Body>(by: Trader, path: string, asked: Fields): Promise<ApiAnswer<Body>> =>
      by.api.post(path, asked, null);
    const at = `/v1/auctions/${mustBe(201, await post<AuctionView>(originator, '/v1/auctions', whole)).auction_id}`;
    expect((await post(originator, '/v1/auctions', whole)).status).toBe(200);
    expect((await post(originator, '/v1/auctions/preflight', whole)).status).toBe(200);
    const terms = {
      price_atoms: 520_000,
      quantity_atoms: 4 * CONTRACT,
      min_quantity_atoms: CONTRACT,
      expires_at: later(60_000),
      client_reference: 'book 3',
    };
    const submit = { ...terms, ...key() };
    const { quote_id: id } = mustBe(201, await post<QuoteView>(maker, `${at}/quotes`, submit));
    expect((await post(maker, `${at}/quotes`, submit)).status).toBe(200);
    const revise = {
      ...terms,
      expected_revision: 1,
      price_atoms: 510_000,
      min_quantity_atoms: 2 * CONTRACT,
      expires_at: later(90_000),
      ...key(),
    };
    mustBe(200, await post(maker, `${at}/quotes/${id}/revise`, revise));
    mustBe(200, await post(maker, `${at}/quotes/${id}/withdraw`, { expected_revision: 2, ...key() }));
    mustBe(
      200,
      await post(maker, '/v1/quotes/withdraw-all', {
        auction_ids: [auction.auction_id],
        venue: 'venue_x',
        ...key(),
      }),
    );
    mustBe(200, await post(originator, `${at}/cancel`, { reason: 'no longer needed', ...key() }));
  });
});

describe('who they are', () => {
  it.each(['operator-1', 'auditor-1', 'viewer-1'])('%s is told', async (name) => {
    const { api } = await floor.trader(name);
    const { roles } = mustBe(200, await api.get<{ roles: string[] }>('/v1/me'));
    expect(roles).toEqual([name.split('-')[0]!.toUpperCase()]);
  });

  it('whoever may not quote protects nothing', async () => {
    const { api } = await floor.trader('viewer-1');
    const settings = { window_ms: 1, max_awards: 1, max_award_notional_atoms: 1, frozen_ms: 1 };
    expect(verdict(await api.send('PUT', '/v1/me/protection', { body: settings }))).toBe('403 forbidden');
  });
});

describe('the limits of a maker', () => {
  it('hold for revisions, withdrawals and a withdraw-all', async () => {
    const plain = await plainFloor();
    const [opener, quoter] = (await plain.traders('originator-1', 'maker-3')) as [Trader, Trader];
    const opened = await opener.opens(auctionBody(plain.contract('venue_a', 1), [quoter]));
    const standing = await quoter.quotes(opened.auction_id, 500_000, 1);
    const every = <Body>(count: number, act: () => Promise<ApiAnswer<Body>>): Promise<string[]> =>
      Promise.all(Array.from({ length: count }, async () => verdict(await act())));
    const stale = { ...standing, revision: 9 };
    const revisions = await every(40, () => quoter.revise(stale, { price_atoms: 490_000 }));
    expect(new Set(revisions)).toEqual(
      new Set(['409 quote_revision_conflict', '429 auction_mutation_rate_limited']),
    );
    const withdrawals = await every(800, () => quoter.withdraw(stale, { expected_revision: 9 }));
    expect(withdrawals).toContain('429 auction_mutation_rate_limited');
    const all = await every(60, () => quoter.api.post('/v1/quotes/withdraw-all', { auction_ids: [] }));
    expect(all).toContain('429 auction_mutation_rate_limited');
    await opener.cancel(opened.auction_id);
    plain.close();
  });
});
