import { describe, expect, it } from '@jest/globals';
import {
  aContract,
  aCreate,
  anEndlessCreate,
  aParty,
  at,
  CONTRACT,
  createFacts,
} from '#libs/testing/auctions/builders.js';
import { creates } from '#libs/testing/auctions/commands.js';
import { outcomeOf } from '#libs/testing/auctions/given.js';
import type { CreateBody, CreateFacts } from '../commands.js';
import { planCreate, type PlannedAuction } from './plan-create.js';
import { rejected, type RejectionCode } from '#libs/base/rejection.js';

const ROUTE = { venue: 'venue_a', contract_id: 'rain', outcome: 'YES' };
const OTHER = { venue: 'venue_b', contract_id: 'wet', outcome: 'YES' };
const DAY = 86_400_000;

function planned(body: Partial<CreateBody> = {}, facts: Partial<CreateFacts> = {}): PlannedAuction {
  const plan = planCreate(aCreate(body), createFacts(facts));
  if (!plan.ok) throw new Error(plan.error);
  return plan;
}

function refusal(body: Partial<CreateBody>, facts: Partial<CreateFacts> = {}) {
  return outcomeOf(creates(body, facts));
}

type Row = [fault: string, body: Partial<CreateBody>, code: RejectionCode];

describe('a create is accepted', () => {
  it('with defaults for every optional field', () => {
    const { terms } = planned();
    expect(terms).toEqual({
      auction_id: '0a000000-0000-8000-8000-000000000001',
      rule_version: 1,
      originator: aParty('olga'),
      side: 'BUY',
      quantity_atoms: 10 * CONTRACT,
      routes: [{ ...ROUTE, title: 'Rain tomorrow' }],
      grid: {
        price_tick_atoms: 1_000,
        min_price_atoms: 1_000,
        max_price_atoms: 999_000,
        quantity_step_atoms: CONTRACT,
      },
      min_fill_quantity_atoms: 10 * CONTRACT,
      allocation: 'SINGLE_WINNER',
      max_winners: 1,
      opened_at: at(0),
      closes_at: at(60_000),
      quote_revision_policy: 'FREE',
      audience: [aParty('mia'), aParty('max')],
      identity_policy: { originator: 'ANONYMOUS', market_makers: 'ANONYMOUS' },
      result_disclosure: 'OWN_RESULT',
      execution_deadline_ms: 60_000,
    });
  });

  it('with every optional field as given', () => {
    const fields: Partial<CreateBody> = {
      side: 'SELL',
      limit_price_atoms: 400_000,
      min_fill_quantity_atoms: 3 * CONTRACT,
      allocation: 'SPLIT',
      max_winners: 16,
      quote_revision_policy: 'IMPROVE_ONLY',
      identity_policy: { originator: 'WINNER_ONLY', market_makers: 'DISCLOSED_AFTER_AWARD' },
      result_disclosure: 'WINNING_PRICE_AND_RANK',
      execution_deadline_ms: 900_000,
      client_reference: 'Ünïcode € 漢字 😀',
    };
    expect(planned(fields).terms).toMatchObject(fields);
  });

  it('as a split, with defaults of one step as minimum fill and eight winners', () => {
    const { terms } = planned({ allocation: 'SPLIT' });
    expect(terms).toMatchObject({ min_fill_quantity_atoms: CONTRACT, max_winners: 8 });
  });

  it('with half of an identity policy, the other half at its default', () => {
    const { terms } = planned({ identity_policy: { market_makers: 'DISCLOSED_AFTER_AWARD' } });
    expect(terms.identity_policy).toEqual({
      originator: 'ANONYMOUS',
      market_makers: 'DISCLOSED_AFTER_AWARD',
    });
  });

  it('as one event with the terms and the holds', () => {
    outcomeOf(creates()).then([at(0), 'AUCTION_OPENED', { terms: planned().terms, hold: expect.any(Array) }]);
  });

  it.each([1_000, DAY])('for %d ms, given as duration or as closes_at', (millis) => {
    const contracts = [aContract({ closes_at: at(2 * DAY) })];
    expect(planned({ duration_ms: millis }, { contracts }).terms.closes_at).toBe(at(millis));
    const plan = planCreate({ ...anEndlessCreate(), closes_at: at(millis) }, createFacts({ contracts }));
    expect(plan).toMatchObject({ ok: true, terms: { closes_at: at(millis) } });
  });
});

describe('the grid is the coarsest of the routes', () => {
  const two = { routes: [ROUTE, OTHER] };
  const onGrids = (tick: number, step: number) => ({
    contracts: [
      aContract({ price_tick_atoms: 1_000, quantity_step_atoms: 10 }),
      aContract({ ...OTHER, price_tick_atoms: tick, quantity_step_atoms: step }),
    ],
  });

  it.each([
    [5_000, 100, { price_tick_atoms: 5_000, max_price_atoms: 995_000, quantity_step_atoms: 100 }],
    [1_500, 4, { price_tick_atoms: 3_000, max_price_atoms: 999_000, quantity_step_atoms: 20 }],
    [7, 10, { price_tick_atoms: 7_000, max_price_atoms: 994_000, quantity_step_atoms: 10 }],
  ])('1,000 and %d, 10 and %d: the least common multiples', (tick, step, grid) => {
    const plan = planned({ ...two, quantity_atoms: 1_000 }, onGrids(tick, step));
    expect(plan.terms.grid).toEqual({ ...grid, min_price_atoms: grid.price_tick_atoms });
  });

  it.each([
    [999_983, 10],
    [1_000, 8_999_999_999_999_999],
  ])('with nothing in common (%d, %d) the create is refused', (tick, step) => {
    refusal(two, onGrids(tick, step)).thenRefused('ROUTES_NOT_EQUIVALENT');
  });
});

describe('the resources that the originator needs', () => {
  it.each([
    ['BUY', 600_000, 600_000],
    ['BUY', undefined, 999_000],
    ['SELL', 600_000, 600_000],
    ['SELL', undefined, 1_000],
  ] as const)('on the %s side with limit %p are reserved at %d', (side, limit, price) => {
    const { need } = planned({ side, ...(limit === undefined ? {} : { limit_price_atoms: limit }) });
    expect(need).toMatchObject({ side, price_atoms: price, quantity_atoms: 10 * CONTRACT, parts: 1 });
  });

  it('allow for the rounding of every winner where the grid rounds', () => {
    const contracts = [aContract({ price_tick_atoms: 1, quantity_step_atoms: 1 })];
    expect(planned({ allocation: 'SPLIT', max_winners: 5 }, { contracts }).need.parts).toBe(5);
    expect(planned({}, { contracts }).need.parts).toBe(1);
    expect(planned({ allocation: 'SPLIT', max_winners: 5 }).need.parts).toBe(1);
  });
});

describe('a create is refused', () => {
  const nine = Array.from({ length: 9 }, (_none, index) => ({ ...ROUTE, contract_id: `rain-${index}` }));
  const off: Row[] = [
    ['no route', { routes: [] }, 'INVALID_TERMS'],
    ['nine routes', { routes: nine }, 'INVALID_TERMS'],
    ['a route twice', { routes: [ROUTE, OTHER, ROUTE] }, 'INVALID_TERMS'],
    ['quantity zero', { quantity_atoms: 0 }, 'INVALID_QUANTITY_STEP'],
    ['a quantity not a multiple of the step', { quantity_atoms: CONTRACT + 1 }, 'INVALID_QUANTITY_STEP'],
    ['a limit of zero', { limit_price_atoms: 0 }, 'PRICE_OUT_OF_RANGE'],
    ['a limit above the grid', { limit_price_atoms: 999_001 }, 'PRICE_OUT_OF_RANGE'],
    ['a limit not a multiple of the tick', { limit_price_atoms: 500_001 }, 'INVALID_PRICE_TICK'],
    ['a minimum fill of zero', { min_fill_quantity_atoms: 0 }, 'INVALID_TERMS'],
    ['a minimum fill above the quantity', { min_fill_quantity_atoms: 11 * CONTRACT }, 'INVALID_TERMS'],
    [
      'a minimum fill not a multiple of the step',
      { min_fill_quantity_atoms: CONTRACT + 1 },
      'INVALID_QUANTITY_STEP',
    ],
    ['max_winners with a single winner', { max_winners: 2 }, 'INVALID_TERMS'],
    ['a split with one winner', { allocation: 'SPLIT', max_winners: 1 }, 'INVALID_TERMS'],
    ['17 winners', { allocation: 'SPLIT', max_winners: 17 }, 'INVALID_TERMS'],
    ['too short a duration', { duration_ms: 999 }, 'INVALID_SCHEDULE'],
    ['more than a day', { duration_ms: DAY + 1 }, 'INVALID_SCHEDULE'],
    ['both duration and closes_at', { closes_at: at(60_000) }, 'INVALID_SCHEDULE'],
    ['4,999 ms to execute', { execution_deadline_ms: 4_999 }, 'INVALID_TERMS'],
    ['900,001 ms to execute', { execution_deadline_ms: 900_001 }, 'INVALID_TERMS'],
    ['a client reference of 65 characters', { client_reference: 'x'.repeat(65) }, 'INVALID_TERMS'],
    ['a client reference with a line break', { client_reference: 'a\nb' }, 'INVALID_TERMS'],
  ];
  it.each(off)('for %s', (_fault, body, code) => {
    refusal(body).thenRefused(code);
  });

  it('without duration or closes_at, or with closes_at too early or too late', () => {
    const endless = anEndlessCreate();
    const ends = [at(999), at(DAY + 1), '2026-11-19T12:00:00.000000000Z'];
    for (const body of [endless, ...ends.map((closes_at) => ({ ...endless, closes_at }))]) {
      expect(planCreate(body, createFacts())).toMatchObject({ ok: false, error: 'INVALID_SCHEDULE' });
    }
  });

  it('where a market closes before the auction or with it, but not one nanosecond later', () => {
    refusal({}, { contracts: [aContract({ closes_at: at(60_000) })] }).thenRefused(
      'MARKET_CLOSES_BEFORE_AUCTION',
    );
    const later = at(60_000).replace('1Z', '2Z');
    expect(planned({}, { contracts: [aContract({ closes_at: later })] }).ok).toBe(true);
  });

  it.each(['PAUSED', 'CLOSED'] as const)('where a market is %s', (status) => {
    refusal({}, { contracts: [aContract({ status })] }).thenRefused('MARKET_NOT_TRADABLE');
  });

  it('where the routes do not settle alike', () => {
    const contracts = [aContract(), aContract({ ...OTHER, equivalence_id: 'else' })];
    refusal({ routes: [ROUTE, OTHER] }, { contracts }).thenRefused('ROUTES_NOT_EQUIVALENT');
  });
});

/** Each row breaks one more rule. With the faults of a row and all later rows, the answer is the code of that row. */
describe('of several faults the first one is answered', () => {
  const audience = rejected('AUDIENCE_EMPTY', 'No maker is left to invite.');
  const rows: [RejectionCode, Partial<CreateBody>, Partial<CreateFacts>][] = [
    ['INVALID_TERMS', { routes: [ROUTE, ROUTE] }, {}],
    ['ROUTE_UNAVAILABLE', {}, { contracts: [undefined] }],
    ['SERVICE_HALTED', {}, { policy: rejected('SERVICE_HALTED', 'The service is halted.') }],
    ['MARKET_NOT_TRADABLE', {}, { contracts: [aContract({ status: 'PAUSED', closes_at: at(1) })] }],
    [
      'ROUTES_NOT_EQUIVALENT',
      { routes: [ROUTE, OTHER] },
      { contracts: [aContract({ closes_at: at(1) }), aContract({ ...OTHER, equivalence_id: 'else' })] },
    ],
    ['INVALID_SCHEDULE', { duration_ms: 0 }, { contracts: [aContract({ closes_at: at(1) })] }],
    ['MARKET_CLOSES_BEFORE_AUCTION', {}, { contracts: [aContract({ closes_at: at(1) })] }],
    ['INVALID_QUANTITY_STEP', { quantity_atoms: 0 }, {}],
    ['PRICE_OUT_OF_RANGE', { limit_price_atoms: 999_999 }, {}],
    ['INVALID_PRICE_TICK', { limit_price_atoms: 1_001 }, {}],
    ['INVALID_TERMS', { min_fill_quantity_atoms: 0 }, {}],
    ['INVALID_QUANTITY_STEP', { min_fill_quantity_atoms: 1 }, {}],
    ['INVALID_TERMS', { client_reference: '\n' }, {}],
    ['AUDIENCE_EMPTY', {}, { audience }],
  ];
  const broken = rows.map((row, index) => {
    const rest = rows.slice(index).reverse();
    const body = Object.assign({}, ...rest.map(([, part]) => part)) as Partial<CreateBody>;
    const facts = Object.assign({}, ...rest.map(([, , part]) => part)) as Partial<CreateFacts>;
    return [index + 1, row[0], body, facts] as const;
  });
  it.each(broken)('%d. %s', (_number, code, body, facts) => {
    refusal(body, facts).thenRefused(code);
  });
});
