import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import type { AuctionJson } from '#libs/client/wire.js';
import {
  auctionBody,
  CONTRACT,
  only,
  sharedFloor,
  type Trader,
  type TradingFloor,
  verdict,
} from '../trading-floor.js';

type Fields = Readonly<Record<string, unknown>>;

let floor: TradingFloor;
let originator: Trader;
let makers: Trader[];

function body(differing: Fields = {}): Fields {
  return auctionBody(floor.contract('venue_c', 2), makers, { duration_ms: 1_200, ...differing });
}

beforeAll(async () => {
  floor = await sharedFloor();
  originator = await floor.newTrader('originator');
  makers = await floor.newTraders('maker', 'maker', 'maker', 'maker');
}, 60_000);

afterAll(() => {
  floor.close();
});

/** What the second of three sellers learns if the first one (or two) win, and the third misses the reserve. */
async function losers(differing: Fields): Promise<{ results: unknown[]; entries: unknown[] }> {
  const [first, second, third] = makers;
  const { auction_id: id } = await originator.opens(body({ limit_price_atoms: 600_000, ...differing }));
  await first!.quotes(id, 450_000, 6);
  await second!.quotes(id, 470_000, 10);
  await third!.quotes(id, 610_000, 10);
  await originator.until(id, 'SETTLED');
  const seen = await Promise.all([second!, third!].map((maker) => maker.view(id)));
  const told = await Promise.all([second!, third!].map((maker) => maker.timeline(id)));
  return {
    results: seen.map(({ my_quote: quote }) => quote!.result),
    entries: told.map((timeline) => {
      const { quote_id: quoteId, ...loss } = only(timeline, 'QUOTE_NOT_AWARDED').data;
      expect(quoteId).toMatch(/^[012]/);
      return loss;
    }),
  };
}

describe('result_disclosure', () => {
  // The first offers six, so six are needed to win; the second comes after it, and the third does not count.
  const single = { min_fill_quantity_atoms: 6 * CONTRACT };
  const cases = [
    ['OWN_RESULT', {}, {}],
    ['WINNING_PRICE', { winning_price_atoms: 450_000 }, { winning_price_atoms: 450_000 }],
    [
      'WINNING_PRICE_AND_RANK',
      { winning_price_atoms: 450_000, rank: 2 },
      // A quote that missed the reserve has no rank among the others.
      { winning_price_atoms: 450_000 },
    ],
  ] as const;

  it.each(cases)('%s shows losing makers this much and no more', async (disclosure, second, third) => {
    const { results, entries } = await losers({ ...single, result_disclosure: disclosure });
    const expected = [second, third].map((more) => ({ reason: 'NOT_SELECTED', ...more }));
    expect(results).toEqual(expected.map((loss) => ({ awarded_quantity_atoms: 0, ...loss })));
    expect(entries).toEqual(expected);
  });

  it('of a split is the worst winning price', async () => {
    const [first, second, third, fourth] = makers;
    const { auction_id: id } = await originator.opens(
      body({ allocation: 'SPLIT', max_winners: 2, result_disclosure: 'WINNING_PRICE_AND_RANK' }),
    );
    await first!.quotes(id, 450_000, 6);
    await second!.quotes(id, 470_000, 3);
    await third!.quotes(id, 480_000, 10);
    await fourth!.quotes(id, 460_000, 5, { min_quantity_atoms: 5 * CONTRACT });
    await originator.until(id, 'SETTLED');
    const loss = { awarded_quantity_atoms: 0, reason: 'NOT_SELECTED', winning_price_atoms: 470_000 };
    expect((await third!.view(id)).my_quote!.result).toEqual({ ...loss, rank: 4 });
    // Five would not fit into the remaining four: skipped, not cut.
    expect((await fourth!.view(id)).my_quote!.result).toEqual({ ...loss, rank: 2 });
  });
});

describe('identity_policy', () => {
  async function traded(
    policy: Fields | undefined,
  ): Promise<{ open: AuctionJson; over: AuctionJson[]; own: AuctionJson }> {
    const [winner, loser] = makers;
    const { auction_id: id } = await originator.opens(body({ identity_policy: policy }));
    await winner!.quotes(id, 450_000, 10);
    await loser!.quotes(id, 460_000, 10);
    const open = await winner!.view(id);
    const own = await originator.until(id, 'SETTLED');
    return { open, over: [await winner!.view(id), await loser!.view(id)], own };
  }
  const alias = { alias: expect.stringMatching(/./) };
  const disclosed = ({ accountId }: Trader): object => ({
    id: accountId,
    display_name: expect.stringMatching(/./),
  });

  it('keeps both sides anonymous by default, under a new alias each time', async () => {
    const [one, two] = await Promise.all([traded(undefined), traded({})]);
    for (const { open, over, own } of [one, two]) {
      expect([open, ...over].map((view) => view.originator)).toEqual([alias, alias, alias]);
      expect(own.award!.awards![0]!.market_maker).toEqual(alias);
    }
    expect(one.open.originator).not.toEqual(two.open.originator);
    expect(one.own.award!.awards![0]!.market_maker).not.toEqual(two.own.award!.awards![0]!.market_maker);
  });

  it('names the originator to all, or to the winner after the award, and winners to the originator', async () => {
    const [all, winnerOnly] = await Promise.all([
      traded({ originator: 'DISCLOSED', market_makers: 'DISCLOSED_AFTER_AWARD' }),
      traded({ originator: 'WINNER_ONLY' }),
    ]);
    const name = disclosed(originator);
    expect([all.open, ...all.over].map((view) => view.originator)).toEqual([name, name, name]);
    expect(all.own.award!.awards![0]!.market_maker).toEqual(disclosed(makers[0]!));
    expect([winnerOnly.open, ...winnerOnly.over].map((view) => view.originator)).toEqual([
      alias,
      name,
      alias,
    ]);
  });
});

describe('quote_revision_policy', () => {
  it('FREE allows changes in any direction, and refuses a stale revision', async () => {
    const [maker] = makers;
    const { auction_id: id } = await originator.opens(body({ duration_ms: 20_000 }));
    const first = await maker!.quotes(id, 450_000, 10);
    const worse = await maker!.revise(first, { price_atoms: 500_000, quantity_atoms: 2 * CONTRACT });
    expect([worse.status, worse.body.revision, worse.body.price_atoms]).toEqual([200, 2, 500_000]);
    expect(verdict(await maker!.revise(first, { price_atoms: 440_000 }))).toBe('409 quote_revision_conflict');
    expect(verdict(await maker!.withdraw(first, { expected_revision: 1 }))).toBe(
      '409 quote_revision_conflict',
    );
    expect((await maker!.withdraw(first, { expected_revision: 2 })).body.status).toBe('WITHDRAWN');
    await originator.cancel(id);
  });

  it('IMPROVE_ONLY allows neither a worse price or size nor a withdrawal', async () => {
    const [maker] = makers;
    const { auction_id: id } = await originator.opens(
      body({ quote_revision_policy: 'IMPROVE_ONLY', duration_ms: 20_000 }),
    );
    const quote = await maker!.quotes(id, 450_000, 5);
    const refused = [
      { price_atoms: 460_000 },
      { quantity_atoms: 4 * CONTRACT },
      { price_atoms: 440_000, quantity_atoms: 4 * CONTRACT },
      { price_atoms: 450_000, quantity_atoms: 5 * CONTRACT },
    ];
    for (const terms of refused)
      expect(verdict(await maker!.revise(quote, terms))).toBe('422 REVISION_NOT_IMPROVING');
    const cheaper = await maker!.revise(quote, { price_atoms: 440_000 });
    expect([cheaper.status, cheaper.body.revision]).toEqual([200, 2]);
    const larger = await maker!.revise(cheaper.body, { quantity_atoms: 6 * CONTRACT });
    expect([larger.status, larger.body.revision]).toEqual([200, 3]);
    expect(verdict(await maker!.withdraw(quote))).toBe('422 QUOTE_NOT_WITHDRAWABLE');
    const expiring = {
      price_atoms: 1_000 * 450,
      quantity_atoms: CONTRACT,
      expires_at: '2999-01-01T00:00:00.000000000Z',
    };
    expect(verdict(await makers[1]!.submit(id, expiring))).toBe('422 INVALID_TERMS');
    await originator.cancel(id);
  });

  it('FINAL allows no change of a quote', async () => {
    const [maker] = makers;
    const { auction_id: id } = await originator.opens(
      body({ quote_revision_policy: 'FINAL', duration_ms: 20_000 }),
    );
    const quote = await maker!.quotes(id, 450_000, 5);
    expect(verdict(await maker!.revise(quote, { price_atoms: 440_000 }))).toBe('422 QUOTE_NOT_REVISABLE');
    expect(verdict(await maker!.withdraw(quote))).toBe('422 QUOTE_NOT_WITHDRAWABLE');
    expect(verdict(await maker!.submit(id, { price_atoms: 440_000, quantity_atoms: CONTRACT }))).toBe(
      '409 quote_already_active',
    );
    await originator.cancel(id);
  });
});

describe('an audience', () => {
  async function invited(audience: Fields, by = originator): Promise<string[]> {
    const answer = await by.create(body({ audience, duration_ms: 20_000 }));
    if (answer.status !== 201) return [verdict(answer)];
    await by.cancel(answer.body.auction_id);
    return [...answer.body.audience!.market_maker_ids].sort();
  }
  const ids = (...names: string[]): string[] => names.map((name) => floor.accountOf(name)).sort();
  const idsOf = (...traders: (Trader | undefined)[]): string[] => traders.map((one) => one!.accountId).sort();

  /** There are more makers than the limit, and other specs use them: only this spec's and the demo's are left. */
  const allBut = (...excluded: string[]): Fields => {
    const mine = new Set(idsOf(...makers));
    const others = floor.cluster.file.demo.users
      .filter(({ email, account_id: id }) => email.startsWith('load-maker-') && !mine.has(id))
      .map(({ account_id: id }) => id);
    return { all_eligible: true, exclude_market_maker_ids: [...others, ...excluded] };
  };

  it('is named maker by maker, or is every eligible maker, without those excluded', async () => {
    const two = idsOf(makers[0], makers[1]);
    expect(await invited({ market_maker_ids: two })).toEqual(two);
    const everybody = await invited(allBut());
    expect(everybody).toEqual(expect.arrayContaining([...ids('maker-1', 'maker-8'), ...idsOf(...makers)]));
    expect(everybody).not.toContain(floor.accountOf('outsider-1'));
    const some = await invited(allBut(...idsOf(makers[0])));
    expect(some).toEqual(everybody.filter((id) => id !== makers[0]!.accountId));
  });

  it("leaves out the originator's own control group", async () => {
    const first = await floor.trader('originator-1');
    expect(await invited(allBut(), first)).not.toContain(floor.accountOf('maker-8'));
    expect(await invited({ market_maker_ids: ids('maker-7', 'maker-8') }, first)).toEqual(ids('maker-7'));
    expect(await invited({ market_maker_ids: ids('maker-8') }, first)).toEqual(['422 AUDIENCE_EMPTY']);
  });

  it('must have at least one maker and at most 64', async () => {
    expect(await invited({})).toEqual(['422 AUDIENCE_EMPTY']);
    expect(await invited({ all_eligible: true })).toEqual(['422 AUDIENCE_TOO_LARGE']);
    expect(
      await invited({ market_maker_ids: idsOf(makers[0]), exclude_market_maker_ids: idsOf(makers[0]) }),
    ).toEqual(['422 AUDIENCE_EMPTY']);
    expect(await invited({ market_maker_ids: [randomUUID()] })).toEqual(['422 AUDIENCE_MEMBER_UNKNOWN']);
    expect(await invited({ group_ids: [randomUUID()] })).toEqual(['422 GROUP_UNKNOWN']);
  });

  it("may be the originator's own group, frozen at that moment", async () => {
    const group = { name: 'friends', market_maker_ids: idsOf(makers[0], makers[1]) };
    const made = await originator.api.post<Record<string, unknown>>('/v1/groups', group, null);
    expect([made.status, made.body]).toEqual([
      201,
      {
        group_id: expect.any(String),
        name: 'friends',
        market_maker_ids: expect.arrayContaining(group.market_maker_ids),
      },
    ]);
    const groupId = String(made.body.group_id);
    const opened = await originator.opens(body({ audience: { group_ids: [groupId] }, duration_ms: 20_000 }));
    expect([...opened.audience!.market_maker_ids].sort()).toEqual(group.market_maker_ids);
    expect(await invited({ group_ids: [groupId] }, await floor.newTrader('originator'))).toEqual([
      '422 GROUP_UNKNOWN',
    ]);

    const change = { body: { name: 'one friend', market_maker_ids: idsOf(makers[2]) } };
    const changed = await originator.api.send<object>('PUT', `/v1/groups/${groupId}`, change);
    expect([changed.status, changed.body]).toEqual([200, { group_id: groupId, ...change.body }]);
    expect(await invited({ group_ids: [groupId] })).toEqual(idsOf(makers[2]));
    expect((await originator.view(opened.auction_id)).audience).toEqual(opened.audience);
    const listed = await originator.api.get<{ groups: unknown[] }>('/v1/groups');
    expect(listed.body.groups).toContainEqual({ group_id: groupId, ...change.body });
    expect((await originator.api.send('DELETE', `/v1/groups/${groupId}`)).status).toBe(204);
    expect((await originator.api.send('DELETE', `/v1/groups/${groupId}`)).status).toBe(404);
    await originator.cancel(opened.auction_id);
  });
});
