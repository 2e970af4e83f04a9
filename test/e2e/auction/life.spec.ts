import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { ApiAnswer } from '#libs/client/api-client.js';
import type { ClusterContract } from '#libs/testing/cluster/cluster-file.js';
import type { AuctionJson, QuoteJson, TimelineEntryJson } from '#libs/client/wire.js';
import { ServiceRecords } from '../books.js';
import {
  auctionBody,
  CONTRACT,
  INSTANT,
  kinds,
  only,
  sharedFloor,
  type Trader,
  type TradingFloor,
  untilPast,
  UUID,
} from '../trading-floor.js';

type Side = 'BUY' | 'SELL';
type Allocation = 'SINGLE_WINNER' | 'SPLIT';

interface Holdings {
  readonly collateral: number;
  readonly tokens: number;
}

/** One auction from its opening to its settlement, as each party saw it. */
interface Play {
  readonly contract: ClusterContract;
  readonly originator: Trader;
  /** Good price for all of it; better for six; best for four after a revision; withdrawn; no quote. */
  readonly makers: readonly [Trader, Trader, Trader, Trader, Trader];
  readonly opened: AuctionJson;
  readonly invitation: AuctionJson;
  readonly submitted: readonly QuoteJson[];
  readonly revised: QuoteJson;
  readonly withdrawn: QuoteJson;
  readonly originatorBeforeClose: AuctionJson;
  readonly losersJustAfterClose: readonly AuctionJson[];
  readonly live: ApiAnswer<AuctionJson>;
  readonly completed: ApiAnswer<AuctionJson>;
  readonly timelines: ReadonlyMap<string, readonly TimelineEntryJson[]>;
  readonly before: ReadonlyMap<string, Holdings>;
  readonly after: ReadonlyMap<string, Holdings>;
}

const MAKERS = ['maker', 'maker', 'maker', 'maker', 'maker'] as const;
const DURATION_MS = 2_500;
/** The longest time after the close until a maker's view says that the auction is over. */
const AT_ONCE_MS = 1_000;
const CASES: readonly (readonly [Side, Allocation, string])[] = [
  ['BUY', 'SINGLE_WINNER', 'venue_a'],
  ['BUY', 'SPLIT', 'venue_c'],
  ['SELL', 'SINGLE_WINNER', 'venue_d'],
  ['SELL', 'SPLIT', 'venue_e'],
];

let floor: TradingFloor;
let books: ServiceRecords;
let cast: Pick<Play, 'originator' | 'makers'>;
const plays = new Map<string, Play>();

/** Prices are written for a buying originator with selling makers; a seller uses the mirror image. */
function priced(side: Side, price: number): number {
  return side === 'BUY' ? price : 1_000_000 - price;
}

async function holdings(
  traders: readonly Trader[],
  contract: ClusterContract,
): Promise<Map<string, Holdings>> {
  const entries = traders.map(async ({ name, accountId }) => {
    const collateral = await books.collateral(accountId, contract.venue);
    const tokens = await books.tokens(accountId, contract.venue, contract.contract_id);
    return [name, { collateral, tokens }] as const;
  });
  return new Map(await Promise.all(entries));
}

async function play(side: Side, allocation: Allocation, venue: string): Promise<Play> {
  const contract = floor.contract(venue);
  const { originator, makers } = cast;
  const everybody = [originator, ...makers];
  const before = await holdings(everybody, contract);
  const opened = await originator.opens(
    auctionBody(contract, makers, {
      side,
      allocation,
      duration_ms: DURATION_MS,
      limit_price_atoms: priced(side, 600_000),
      client_reference: 'desk 7',
    }),
  );
  const id = opened.auction_id;
  const [good, better, best, fickle] = makers;
  const invitation = await good.view(id);
  const submitted = [
    await good.quotes(id, priced(side, 500_000), 10, { client_reference: 'book 1' }),
    await better.quotes(id, priced(side, 480_000), 6),
    await best.quotes(id, priced(side, 520_000), 10),
    await fickle.quotes(id, priced(side, 400_000), 10),
  ] as const;
  const revised = (
    await best.revise(submitted[2], { price_atoms: priced(side, 470_000), quantity_atoms: 4 * CONTRACT })
  ).body;
  const withdrawn = (await fickle.withdraw(submitted[3])).body;
  const originatorBeforeClose = await originator.view(id);

  await untilPast(opened.closes_at, AT_ONCE_MS);
  const losers = allocation === 'SPLIT' ? [good, fickle, makers[4]] : [better, best, fickle, makers[4]];
  const losersJustAfterClose = await Promise.all(losers.map((maker) => maker.view(id)));
  await originator.until(id, 'SETTLED');
  const live = await originator.get(id);
  const completed = await originator.untilCompletedRead(id);
  const timelines = new Map(
    await Promise.all(everybody.map(async (trader) => [trader.name, await trader.timeline(id)] as const)),
  );
  const after = await holdings(everybody, contract);
  return {
    ...{ contract, originator, makers, opened, invitation, submitted, revised, withdrawn },
    ...{ originatorBeforeClose, losersJustAfterClose, live, completed, timelines, before, after },
  };
}

beforeAll(async () => {
  floor = await sharedFloor();
  books = new ServiceRecords(floor.cluster);
  const [originator, ...makers] = await floor.newTraders('originator', ...MAKERS);
  cast = { originator, makers };
  await books.stock(
    [originator, ...makers].map(({ accountId }) => accountId),
    CASES.map(([, , venue]) => floor.contract(venue)),
    1_000 * CONTRACT,
  );
  await Promise.all(
    CASES.map(async ([side, allocation, venue]) => {
      plays.set(`${side} ${allocation}`, await play(side, allocation, venue));
    }),
  );
}, 90_000);

afterAll(async () => {
  floor.close();
  await books.close();
});

describe.each(CASES)('an originator that wants to %s, %s', (side, allocation) => {
  const the = (): Play => plays.get(`${side} ${allocation}`)!;
  const split = allocation === 'SPLIT';
  /** The winners with price and quantity, in order of rank. */
  const winners = split
    ? ([
        [2, priced(side, 470_000), 4 * CONTRACT],
        [1, priced(side, 480_000), 6 * CONTRACT],
      ] as const)
    : ([[0, priced(side, 500_000), 10 * CONTRACT]] as const);

  function commonFields(): object {
    const { contract, opened } = the();
    return {
      auction_id: opened.auction_id,
      status: 'OPEN',
      phase: 'LIVE',
      side,
      quantity_atoms: 10 * CONTRACT,
      allocation,
      ...(split ? { max_winners: 8 } : {}),
      quote_revision_policy: 'FREE',
      result_disclosure: 'OWN_RESULT',
      routes: [
        {
          venue: contract.venue,
          contract_id: contract.contract_id,
          outcome: contract.outcome,
          title: expect.stringMatching(/./),
        },
      ],
      price_tick_atoms: contract.price_tick_atoms,
      min_price_atoms: contract.price_tick_atoms,
      max_price_atoms: 1_000_000 - contract.price_tick_atoms,
      quantity_step_atoms: contract.quantity_step_atoms,
      opened_at: expect.stringMatching(INSTANT),
      closes_at: expect.stringMatching(INSTANT),
    };
  }

  it('is shown its own auction, field by field', () => {
    const { opened, makers, contract } = the();
    expect(opened).toEqual({
      ...commonFields(),
      role: 'ORIGINATOR',
      view_version: 1,
      limit_price_atoms: priced(side, 600_000),
      min_fill_quantity_atoms: split ? contract.quantity_step_atoms : 10 * CONTRACT,
      client_reference: 'desk 7',
      identity_policy: { originator: 'ANONYMOUS', market_makers: 'ANONYMOUS' },
      execution_deadline_ms: 60_000,
      audience: { invited_count: 5, market_maker_ids: expect.any(Array) },
    });
    expect(opened.auction_id).toMatch(UUID);
    expect(opened.auction_id[0]).toMatch(/[012]/);
    expect(opened.auction_id[14]).toBe('8');
    expect([...opened.audience!.market_maker_ids].sort()).toEqual(
      makers.map(({ accountId }) => accountId).sort(),
    );
    const millis = Date.parse(opened.closes_at) - Date.parse(opened.opened_at);
    expect(Math.abs(millis - DURATION_MS)).toBeLessThanOrEqual(1);
    expect(opened.closes_at.slice(20, 29)).toBe(nanosAfter(opened.opened_at, DURATION_MS));
  });

  it('invites its makers, who learn neither its reserve nor who else was invited', () => {
    expect(the().invitation).toEqual({
      ...commonFields(),
      role: 'MARKET_MAKER',
      view_version: 2,
      originator: { alias: expect.stringMatching(/./) },
    });
  });

  it('gets quotes that only their own makers see', () => {
    const { submitted, revised, withdrawn, opened, contract, originatorBeforeClose } = the();
    expect(submitted[0]).toEqual({
      quote_id: expect.stringMatching(UUID),
      auction_id: opened.auction_id,
      revision: 1,
      status: 'ACTIVE',
      price_atoms: priced(side, 500_000),
      quantity_atoms: 10 * CONTRACT,
      min_quantity_atoms: contract.quantity_step_atoms,
      client_reference: 'book 1',
      submitted_at: expect.stringMatching(INSTANT),
      updated_at: submitted[0]!.submitted_at,
    });
    expect(submitted.map(({ quote_id }) => quote_id[0])).toEqual(submitted.map(() => opened.auction_id[0]));
    expect(revised).toEqual({
      ...submitted[2],
      revision: 2,
      price_atoms: priced(side, 470_000),
      quantity_atoms: 4 * CONTRACT,
      updated_at: expect.stringMatching(INSTANT),
    });
    expect(revised.updated_at > revised.submitted_at).toBe(true);
    expect(withdrawn).toEqual({
      ...submitted[3],
      status: 'WITHDRAWN',
      withdrawn_by: 'MARKET_MAKER',
      updated_at: expect.stringMatching(INSTANT),
    });
    expect(originatorBeforeClose).toEqual(opened);
  });

  it('is over at its close for every maker without an award', () => {
    const { losersJustAfterClose, opened } = the();
    for (const view of losersJustAfterClose) {
      expect(view).toMatchObject({
        status: 'COMPLETED',
        phase: 'COMPLETED',
        closed_at: opened.closes_at,
        completed_at: opened.closes_at,
      });
      expect(view).not.toHaveProperty('award');
    }
    const results = losersJustAfterClose.map(({ my_quote: quote }) => quote && [quote.status, quote.result]);
    const lost = ['NOT_AWARDED', { awarded_quantity_atoms: 0, reason: 'NOT_SELECTED' }];
    expect(results).toEqual([...(split ? [lost] : [lost, lost]), ['WITHDRAWN', undefined], undefined]);
  });

  it('is awarded each winner at its own price, and everything settles', () => {
    const { live, opened } = the();
    const view = live.body;
    expect(view).toMatchObject({ status: 'SETTLED', phase: 'COMPLETED', closed_at: opened.closes_at });
    expect(view.completed_at! > opened.closes_at).toBe(true);
    const average = split ? priced(side, 476_000) : priced(side, 500_000);
    expect(view.award).toEqual({
      quantity_atoms: 10 * CONTRACT,
      average_price_atoms: average,
      awards: winners.map(([, price_atoms, quantity_atoms]) => ({
        award_id: expect.stringMatching(UUID),
        market_maker: { alias: expect.stringMatching(/./) },
        price_atoms,
        quantity_atoms,
        execution_status: 'CONFIRMED',
      })),
    });
  });

  it('is read from the completed projection afterwards, with the same bytes', () => {
    const { live, completed } = the();
    expect(completed.headers['x-auction-completed-as-of']).toMatch(INSTANT);
    expect(completed.text).toBe(live.text);
  });

  it('shows the originator its timeline', () => {
    const { timelines, originator, opened, live } = the();
    const timeline = timelines.get(originator.name)!;
    expect(kinds(timeline).filter((kind) => !kind.startsWith('EXECUTION_'))).toEqual([
      'AUCTION_OPENED',
      'AUCTION_CLOSED',
      'AUCTION_AWARDED',
      'AUCTION_COMPLETED',
    ]);
    expect(timeline.map(({ seq }) => seq)).toEqual(timeline.map((_, index) => index + 1));
    expect(live.body.view_version).toBe(timeline.length);
    expect(timeline[0]).toEqual({
      seq: 1,
      kind: 'AUCTION_OPENED',
      occurred_at: opened.opened_at,
      actor: 'SELF',
      data: { auction: opened },
    });
    const at = { occurred_at: opened.closes_at, actor: 'SYSTEM' };
    expect(timeline[1]).toEqual({ seq: 2, kind: 'AUCTION_CLOSED', ...at, data: {} });
    const { award } = live.body;
    const pending = {
      ...award,
      awards: award!.awards!.map((row) => ({ ...row, execution_status: 'PENDING' })),
    };
    expect(timeline[2]).toEqual({ seq: 3, kind: 'AUCTION_AWARDED', ...at, data: { award: pending } });
    for (const { award_id } of award!.awards!) {
      const execution = timeline.filter(({ data }) => data.award_id === award_id);
      expect(kinds(execution)).toEqual(['EXECUTION_SUBMITTED', 'EXECUTION_CONFIRMED']);
      expect(execution.map(({ actor, data }) => [actor, data])).toEqual([
        ['SYSTEM', { award_id, attempt: 1 }],
        ['SYSTEM', { award_id, attempt: 1 }],
      ]);
    }
    expect(timeline.at(-1)).toMatchObject({
      kind: 'AUCTION_COMPLETED',
      actor: 'SYSTEM',
      occurred_at: live.body.completed_at,
      data: { status: 'SETTLED' },
    });
  });

  it('shows a winner its own timeline, with its own award', async () => {
    const { timelines, makers, opened } = the();
    for (const [winner, price_atoms, quantity_atoms] of winners) {
      const maker = makers[winner];
      const timeline = timelines.get(maker.name)!;
      expect(kinds(timeline)).toEqual([
        'AUCTION_OPENED',
        'INVITATION_RECEIVED',
        'QUOTE_ACCEPTED',
        ...(winner === 2 ? ['QUOTE_REVISED'] : []),
        'AUCTION_CLOSED',
        'QUOTE_AWARDED',
        'EXECUTION_SUBMITTED',
        'EXECUTION_CONFIRMED',
        'AUCTION_COMPLETED',
      ]);
      const view = await maker.view(opened.auction_id);
      const { award, my_quote: quote } = view;
      expect(award).toEqual({
        award_id: expect.stringMatching(UUID),
        price_atoms,
        quantity_atoms,
        execution_status: 'CONFIRMED',
      });
      expect(view).toMatchObject({ status: 'SETTLED', view_version: timeline.length });
      expect([quote!.status, quote!.result]).toEqual([
        'SETTLED',
        { awarded_quantity_atoms: quantity_atoms, award_id: award!.award_id },
      ]);
      expect(only(timeline, 'QUOTE_AWARDED')).toMatchObject({
        occurred_at: opened.closes_at,
        actor: 'SYSTEM',
        data: { quote_id: quote!.quote_id, award_id: award!.award_id, price_atoms, quantity_atoms },
      });
      expect(timeline.at(-1)!.data).toEqual({ status: 'SETTLED' });
    }
  });

  it('shows losing, withdrawn and silent makers only their own timelines', () => {
    const { timelines, submitted, invitation, opened, makers } = the();
    const end = ['AUCTION_CLOSED', 'AUCTION_COMPLETED'];
    const beaten = timelines.get(makers[split ? 0 : 1].name)!;
    expect(kinds(beaten)).toEqual([
      ...['AUCTION_OPENED', 'INVITATION_RECEIVED', 'QUOTE_ACCEPTED'],
      ...['AUCTION_CLOSED', 'QUOTE_NOT_AWARDED', 'AUCTION_COMPLETED'],
    ]);
    expect(only(beaten, 'QUOTE_NOT_AWARDED').data).toEqual({
      quote_id: submitted[split ? 0 : 1]!.quote_id,
      reason: 'NOT_SELECTED',
    });
    expect(only(beaten, 'QUOTE_ACCEPTED')).toMatchObject({
      actor: 'SELF',
      data: { quote: submitted[split ? 0 : 1] },
    });
    expect(kinds(timelines.get(makers[3].name)!)).toEqual([
      ...['AUCTION_OPENED', 'INVITATION_RECEIVED', 'QUOTE_ACCEPTED', 'QUOTE_WITHDRAWN'],
      ...end,
    ]);
    const silent = timelines.get(makers[4].name)!;
    expect(silent).toEqual([
      {
        ...{ seq: 1, kind: 'AUCTION_OPENED', occurred_at: opened.opened_at, actor: 'ORIGINATOR' },
        data: { auction: { ...invitation, view_version: 1, originator: expect.anything() } },
      },
      ...[
        { seq: 2, kind: 'INVITATION_RECEIVED', occurred_at: opened.opened_at, actor: 'ORIGINATOR', data: {} },
      ],
      ...[{ seq: 3, kind: 'AUCTION_CLOSED', occurred_at: opened.closes_at, actor: 'SYSTEM', data: {} }],
      {
        ...{ seq: 4, kind: 'AUCTION_COMPLETED', occurred_at: opened.closes_at, actor: 'SYSTEM' },
        data: { status: 'COMPLETED' },
      },
    ]);
  });

  it('pays the agreed amount and moves the tokens, nothing else', () => {
    const { before, after, originator, makers } = the();
    const change = ({ name }: Trader): Holdings => ({
      collateral: after.get(name)!.collateral - before.get(name)!.collateral,
      tokens: after.get(name)!.tokens - before.get(name)!.tokens,
    });
    const sign = side === 'BUY' ? 1 : -1;
    const paid = winners.map(([winner, price, quantity]) => ({
      maker: makers[winner],
      money: (price * quantity) / CONTRACT,
      quantity,
    }));
    for (const { maker, money, quantity } of paid) {
      expect([maker.name, change(maker)]).toEqual([
        maker.name,
        { collateral: sign * money, tokens: -sign * quantity },
      ]);
    }
    const total = paid.reduce((sum, { money }) => sum + money, 0);
    expect(change(originator)).toEqual({ collateral: -sign * total, tokens: sign * 10 * CONTRACT });
    expect(change(makers[3])).toEqual({ collateral: 0, tokens: 0 });
  });
});

/** The nine digits after the second, this many milliseconds later. */
function nanosAfter(instant: string, millis: number): string {
  const fraction = Number(instant.slice(20, 29)) + (millis % 1_000) * 1_000_000;
  return String(fraction % 1_000_000_000).padStart(9, '0');
}
