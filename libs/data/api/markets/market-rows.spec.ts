import { describe, expect, it } from '@jest/globals';
import type { MarketEvent } from '../../rules/events.js';
import { listedMarket, marketAfter, type FoldedMarket } from '../../rules/markets.js';
import type { AnsweredMarket } from '../upstream/answers.js';
import { batchPrice } from './batch-price.js';
import { activeRow, asRecorded, detailsRow } from './market-facts.js';
import { indexedMetadata, liveMetadata, isEmptyRules } from './metadata-rows.js';
import { liveOutcomeRows, outcomeRows } from './outcome-rows.js';

const AT = Date.UTC(2026, 10, 21, 12) * 1_000;

const bare: MarketEvent = {
  ...{
    type: 'MARKET',
    provider: 'venue_b',
    market_id: 'm',
    source_id: 's',
    source_ts: AT,
    received_at: AT + 1,
  },
  ...{ name: 'Will it?', outcomes: [{ label: 'Yes' }, { label: 'No' }] },
};
const whole: MarketEvent = {
  ...bare,
  ...{ provider: 'venue_a', condition_id: '0xc', event_id: 'e', event_name: 'It', category: 'science' },
  ...{ ticker: 'IT-26', description: 'Whether it will.', listed_at: AT - 1, expires_at: AT + 500_000 },
  ...{
    settlement_ts: AT + 1_000_000,
    icon: 'i',
    banner: 'b',
    external_url: 'https://a/it',
    ctf_neg_risk: false,
  },
  ...{ extra: { depth: 1 }, resolution_rules: { primary: 'It does.', secondary: null, source: 'It' } },
  outcomes: [
    { label: 'Yes', token_id: '11' },
    { label: 'No', token_id: '12' },
  ],
  contract: {
    ...{ tick_size: 1_000, min_price: 0, max_price: 1_000_000, lot_size: 10_000n, quote_currency: 'USDC' },
    bands: [{ start: 0, end: 40_000, step: 1_000 }],
  },
};

function after(state: FoldedMarket, event: Parameters<typeof marketAfter>[1]): FoldedMarket {
  const read = marketAfter(state, event);
  if (!read.ok) throw new Error(read.refusal);
  return read.state;
}

describe('rows of active markets', () => {
  it('show the raw payload of the venue', () => {
    const raw = { any: ['thing', 1.5] };
    expect(activeRow(listedMarket({ ...whole, raw }))).toEqual({
      ...{ market_id: 'm', condition_id: '0xc', title: 'Will it?', status: 'active', raw },
      outcomes: [
        { outcome: 'Yes', token_id: '11' },
        { outcome: 'No', token_id: '12' },
      ],
    });
  });

  it('show the MARKET event in recorded form if there is no raw payload', () => {
    expect(activeRow(listedMarket(bare))).toEqual({
      ...{ market_id: 'm', condition_id: null, title: 'Will it?', status: 'open' },
      outcomes: [
        { outcome: 'Yes', token_id: null },
        { outcome: 'No', token_id: null },
      ],
      raw: {
        ...{ type: 'MARKET', provider: 'venue_b', market_id: 'm', source_id: 's', name: 'Will it?' },
        source_ts: '2026-11-21T12:00:00Z',
        outcomes: [{ label: 'Yes' }, { label: 'No' }],
      },
    });
    const { listed_at, expires_at, settlement_ts, contract } = asRecorded(whole);
    expect({ listed_at, expires_at, settlement_ts, contract }).toEqual({
      listed_at: '2026-11-21T11:59:59.999999Z',
      expires_at: '2026-11-21T12:00:00.5Z',
      settlement_ts: '2026-11-21T12:00:01Z',
      contract: {
        ...{ tick_size: 0.001, min_price: 0, max_price: 1, lot_size: 0.01, quote_currency: 'USDC' },
        bands: [{ start: 0, end: 0.04, step: 0.001 }],
      },
    });
  });
});

describe('details', () => {
  it('have ids, and the outcomes with a token', () => {
    expect(detailsRow(listedMarket(whole))).toEqual({
      ...{
        market_id: 'm',
        provider_id: 2,
        event_id: 'e',
        name: 'Will it?',
        category: 'science',
        status: 'active',
      },
      ...{ condition_id: '0xc', token_id: '11', token_ids: ['11', '12'], outcomes: ['Yes', 'No'] },
    });
    const half = { ...whole, outcomes: [{ label: 'Yes' }, { label: 'No', token_id: '12' }] };
    expect(detailsRow(listedMarket(half))).toMatchObject({
      token_id: '12',
      token_ids: ['12'],
      outcomes: ['No'],
    });
  });

  it('have null and empty lists without tokens', () => {
    expect(detailsRow(listedMarket(bare))).toEqual({
      ...{ market_id: 'm', provider_id: 1, event_id: null, name: 'Will it?', category: null, status: 'open' },
      ...{ condition_id: null, token_id: null, token_ids: [], outcomes: [] },
    });
  });

  it('a settlement that swapped win and loss: outcomes are in the order of their indices, even if a later event reorders them', () => {
    const outcomes = [...whole.outcomes].reverse();
    const turned = after(listedMarket(whole), { ...whole, source_ts: AT + 1, outcomes });
    expect(detailsRow(turned)).toMatchObject({ token_ids: ['11', '12'], outcomes: ['Yes', 'No'] });
  });
});

describe('metadata', () => {
  it('from the index has all values in their scales', () => {
    expect(indexedMetadata('it-26', listedMarket(whole))).toEqual({
      ...{ ticker: 'it-26', provider: 'venue_a', name: 'Will it?', description: 'Whether it will.' },
      resolution_rules: { primary: 'It does.', secondary: null, source: 'It' },
      contract: {
        ...{ tick_size: 0.001, min_price: 0, max_price: 1, lot_size: 0.01, quote_currency: 'USDC' },
        ...{ settlement_ts: '2026-11-21T12:00:01Z', expires_at: '2026-11-21T12:00:00.5Z' },
      },
      images: { icon: 'i', banner: 'b' },
      ...{ external_url: 'https://a/it', condition_id: '0xc', event_id: 'e', ctf_neg_risk: false },
      ...{ extra: { depth: 1 }, active: true },
    });
  });

  it('from the index has null for unknown values', () => {
    const row = indexedMetadata('m', listedMarket(bare));
    expect(row).toEqual({
      ...{ ticker: 'm', provider: 'venue_b', name: 'Will it?', description: null },
      resolution_rules: { primary: null, secondary: null, source: null },
      contract: {
        ...{ tick_size: null, min_price: null, max_price: null, lot_size: null, quote_currency: null },
        ...{ settlement_ts: null, expires_at: null },
      },
      images: { icon: null, banner: null },
      ...{
        external_url: null,
        condition_id: null,
        event_id: null,
        ctf_neg_risk: null,
        extra: {},
        active: true,
      },
    });
    expect(isEmptyRules(row.resolution_rules)).toBe(true);
    expect(isEmptyRules({ primary: ' \n', secondary: '', source: null })).toBe(true);
    expect(isEmptyRules({ primary: null, secondary: null, source: 'x' })).toBe(false);
  });

  it('from the index tells whether its market is open', () => {
    const envelope = {
      provider: 'venue_a',
      market_id: 'm',
      source_id: 'c',
      source_ts: AT + 2,
      received_at: AT,
    } as const;
    const closed = after(listedMarket(whole), { ...envelope, type: 'STATUS', status: 'closed' });
    expect(indexedMetadata('m', closed).active).toBe(false);
  });

  it('from the venue has no condition, event or time of settlement', () => {
    expect(liveMetadata('x', 'venue_c', live)).toEqual({
      ...{ ticker: 'x', provider: 'venue_c', name: 'Live?', description: 'd' },
      resolution_rules: { primary: 'p', secondary: 's', source: 'r' },
      contract: {
        ...{ tick_size: 0.01, min_price: 0.01, max_price: 0.99, lot_size: 1, quote_currency: 'USDT' },
        ...{ settlement_ts: null, expires_at: '2026-11-21T12:00:00Z' },
      },
      images: { icon: 'i', banner: null },
      ...{
        external_url: 'u',
        condition_id: null,
        event_id: null,
        ctf_neg_risk: null,
        extra: {},
        active: true,
      },
    });
  });
});

const live: AnsweredMarket = {
  ...{
    id: 'lm',
    title: 'Live?',
    description: 'd',
    rules_primary: 'p',
    rules_secondary: 's',
    rules_source: 'r',
  },
  ...{
    tick_size: 10_000,
    min_price: 10_000,
    max_price: 990_000,
    lot_size: 1_000_000n,
    quote_currency: 'USDT',
  },
  ...{ expires_at: AT, icon: 'i', banner: null, url: 'u', active: true, event_id: 'e', event_name: 'E' },
  outcomes: [
    { label: 'Up', token_id: '7', price: 250_000 },
    { label: 'Down', token_id: null, price: null },
  ],
};

describe('rows of outcomes', () => {
  it('have their own price, volume and liquidity', () => {
    const price = { price: 480_000, source: 'mid' } as const;
    const rows = outcomeRows(
      { marketNo: 1, state: listedMarket(whole) },
      { now: [{ price, liquidity: 1_500_000n, isStale: false }], volumes: [2_250_000n] },
    );
    const common = {
      market_id: 'm',
      condition_id: '0xc',
      status: 'active',
      expires_at: '2026-11-21T12:00:00.5Z',
    };
    expect(rows).toEqual([
      ...[
        {
          ...common,
          label: 'Yes',
          outcome_index: 0,
          token_id: '11',
          price: 0.48,
          volume_24h: 2.25,
          liquidity: 1.5,
        },
      ],
      ...[
        {
          ...common,
          label: 'No',
          outcome_index: 1,
          token_id: '12',
          price: null,
          volume_24h: 0,
          liquidity: null,
        },
      ],
    ]);
  });

  it('from the venue have null for missing values', () => {
    const common = { market_id: 'lm', condition_id: null, volume_24h: null, liquidity: null, status: null };
    expect(liveOutcomeRows('asked', live)).toEqual([
      {
        ...common,
        label: 'Up',
        outcome_index: 0,
        token_id: '7',
        price: 0.25,
        expires_at: '2026-11-21T12:00:00Z',
      },
      {
        ...common,
        label: 'Down',
        outcome_index: 1,
        token_id: null,
        price: null,
        expires_at: '2026-11-21T12:00:00Z',
      },
    ]);
    expect(liveOutcomeRows('asked', { ...live, id: null })[0]?.market_id).toBe('asked');
  });
});

describe('batch prices', () => {
  const price = { price: 485_000, source: 'last' } as const;

  it('are in cents for venue_b and 0 to 1 for others', () => {
    const traded = { cash: 12_345_000_000n, trades: 3n };
    expect(batchPrice('venue_b', { price, liquidity: null }, traded)).toEqual({
      ...{ price: 48.5, volume: '$12.3K', liquidity: null },
    });
    expect(batchPrice('venue_e', { price, liquidity: 10n }, traded)).toEqual({
      ...{ price: 0.485, volume: '$12.3K', liquidity: 0.00001 },
    });
  });

  it('have no volume without a trade, and do not exist without a price', () => {
    expect(batchPrice('venue_a', { price, liquidity: null }, { cash: 0n, trades: 0n })?.volume).toBeNull();
    expect(batchPrice('venue_a', { price, liquidity: null }, { cash: 0n, trades: 1n })?.volume).toBe('$0');
    expect(batchPrice('venue_a', { price: null, liquidity: null }, { cash: 1n, trades: 1n })).toBeUndefined();
  });
});
