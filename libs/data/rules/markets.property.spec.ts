import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { MarketEvent, ListingStatus, ResolutionEvent, StatusEvent } from './events.js';
import {
  isLive,
  isOpen,
  listedMarket,
  marketAfter,
  payoutsOf,
  resolutionOf,
  statusOf,
  type FoldedMarket,
} from './markets.js';

const NOW = 1_795_176_000_000_000;
const AT = { provider: 'venue_a', market_id: 'm', source_id: 'x', source_ts: NOW, received_at: NOW } as const;
const MARKET: MarketEvent = {
  ...{ ...AT, type: 'MARKET', name: 'Rain?' },
  outcomes: [
    { label: 'Yes', token_id: '11' },
    { label: 'No', token_id: '22' },
  ],
};

type AnyEvent = MarketEvent | StatusEvent | ResolutionEvent;

const anyStatus = fc.constantFrom<ListingStatus>('open', 'active', 'closed', 'resolved', 'settled');
const anyPayouts = fc.constantFrom([1_000_000, 0], [0, 1_000_000], [500_000, 500_000]);
const anyOutcomes = fc
  .record({ yes: fc.constantFrom('Yes', 'Ja'), isTurned: fc.boolean() })
  .map(({ yes, isTurned }) => {
    const outcomes = [
      { label: yes, token_id: '11' },
      { label: 'No', token_id: '22' },
    ];
    return isTurned ? outcomes.reverse() : outcomes;
  });
const anyMoment = fc.record({
  ...{
    provider: fc.constant('venue_a' as const),
    market_id: fc.constant('m'),
    received_at: fc.constant(NOW),
  },
  source_ts: fc.integer({ min: NOW - 4, max: NOW + 4 }),
});
const anyEvent: fc.Arbitrary<AnyEvent> = fc.oneof(
  fc
    .record({ at: anyMoment, outcomes: anyOutcomes, status: fc.option(anyStatus) })
    .map(({ at, outcomes, status }) => ({
      ...{ ...MARKET, ...at, outcomes, name: `at ${String(at.source_ts)}` },
      ...(status === null ? {} : { status }),
    })),
  fc
    .record({ at: anyMoment, status: anyStatus })
    .map(({ at, status }) => ({ ...AT, ...at, type: 'STATUS' as const, status })),
  fc
    .record({
      at: anyMoment,
      status: fc.constantFrom<'resolved' | 'settled'>('resolved', 'settled'),
      payouts: anyPayouts,
    })
    .map(({ at, status, payouts }) => ({ ...AT, ...at, type: 'RESOLUTION' as const, status, payouts })),
);
/** An id is unique within its type only. */
const anyHistory = fc.uniqueArray(
  fc
    .tuple(anyEvent, fc.constantFrom('e1', 'e2', 'e3', 'z'))
    .map(([event, source_id]) => ({ ...event, source_id })),
  { maxLength: 12, selector: ({ type, source_id }) => `${type} ${source_id}` },
);
const TYPES = ['MARKET', 'STATUS', 'RESOLUTION'];

/** A reference: applies one event after another in order of time. */
function slowMarket(first: MarketEvent, events: readonly AnyEvent[]): object {
  const moment = ({ source_ts, source_id }: AnyEvent): string => `${String(source_ts)} ${source_id}`;
  const key = (event: AnyEvent): string => `${moment(event)} ${String(TYPES.indexOf(event.type))}`;
  const story = [first, ...events].sort((a, b) => (key(a) < key(b) ? -1 : 1));
  let status: ListingStatus = 'active';
  let payouts: readonly number[] | undefined;
  let [resolvedAt, paidAt]: (number | undefined)[] = [];
  let settledAt: number | null = null;
  let [name, yes] = ['', ''];
  for (const event of story) {
    const isSettled = settledAt !== null;
    const isLate = story.some((other) => other.status === 'settled' && moment(other) < moment(event));
    if (event.type === 'RESOLUTION' && (!isLate || payouts === undefined)) {
      payouts = event.payouts;
      paidAt = event.source_ts;
      if (event.status === 'resolved') resolvedAt = event.source_ts;
    }
    if (event.type === 'MARKET') {
      name = event.name;
      yes = event.outcomes.find(({ token_id }) => token_id === '11')!.label;
    }
    if (event.status !== undefined && !isSettled) status = event.status;
    if (event.status === 'settled' && !isSettled) settledAt = event.source_ts;
  }
  const isPaying = status === 'resolved' || status === 'settled';
  return {
    ...{ status, name, yes, no: 'No', paying: isPaying ? payouts : undefined },
    resolution: payouts && { payouts, resolvedAt: resolvedAt ?? paidAt, settledAt },
  };
}

function folded(first: MarketEvent, events: readonly AnyEvent[]): FoldedMarket {
  return events.reduce((market, event) => {
    const read = marketAfter(market, event);
    if (!read.ok) throw new Error(read.refusal);
    return read.state;
  }, listedMarket(first));
}

describe('a market', () => {
  it('is the result of its events in order of time, whatever order they are read in', () => {
    fc.assert(
      fc.property(
        anyHistory.chain((events) =>
          fc.record({
            events: fc.constant(events),
            read: fc.shuffledSubarray(events, { minLength: events.length }),
          }),
        ),
        ({ events, read }) => {
          const market = folded(MARKET, read);
          const resolution = resolutionOf(market);
          expect({
            status: statusOf(market),
            name: market.details.name,
            yes: market.outcomes[0]?.label,
            no: market.outcomes[1]?.label,
            paying: payoutsOf(market),
            resolution: resolution && {
              payouts: resolution.payouts,
              resolvedAt: resolution.resolved_at,
              settledAt: resolution.settled_at,
            },
          }).toEqual(slowMarket(MARKET, events));
          expect(isOpen(market)).toBe(['open', 'active'].includes(statusOf(market)));
        },
      ),
      { numRuns: 2_000 },
    );
  });

  it.each([
    ['venue_a', 'active'],
    ['venue_b', 'open'],
    ['venue_f', 'active'],
  ] as const)('of %s that says no status is %s', (provider, status) => {
    expect(statusOf(listedMarket({ ...MARKET, provider }))).toBe(status);
  });

  it('is live up to its end', () => {
    const market = listedMarket({ ...MARKET, expires_at: NOW });
    expect([isLive(market, NOW), isLive(market, NOW + 1)]).toEqual([true, false]);
    expect(isLive(listedMarket(MARKET), NOW)).toBe(true);
    expect(isLive(listedMarket({ ...MARKET, status: 'closed' }), NOW)).toBe(false);
  });

  it('resolved early is resolved, although its end lies ahead', () => {
    const event = { ...AT, type: 'RESOLUTION', status: 'resolved', payouts: [1_000_000, 0] } as const;
    const market = folded({ ...MARKET, expires_at: NOW * 2 }, [{ ...event, source_ts: NOW + 1 }]);
    expect(statusOf(market)).toBe('resolved');
    expect(resolutionOf(market)).toEqual({
      ...{ status: 'resolved', payouts: [1_000_000, 0], outcome_index: 0, resolved_at: NOW + 1 },
      ...{ settled_at: null, source_url: null, disputed: false },
    });
    expect(isLive(market, NOW)).toBe(false);
  });

  it('that is void has no winner', () => {
    const event = { ...AT, type: 'RESOLUTION', status: 'settled', payouts: [500_000, 500_000] } as const;
    expect(resolutionOf(folded(MARKET, [{ ...event, source_ts: NOW + 1 }]))).toMatchObject({
      ...{ status: 'settled', outcome_index: null, resolved_at: NOW + 1, settled_at: NOW + 1 },
    });
  });

  it('accepts only payouts with one for each outcome', () => {
    const event = { ...AT, type: 'RESOLUTION', status: 'resolved', payouts: [1_000_000, 0, 0] } as const;
    expect(marketAfter(listedMarket(MARKET), event)).toEqual({ ok: false, refusal: 'payouts_differ' });
  });
});

describe('an outcome', () => {
  const later = (outcomes: MarketEvent['outcomes']): MarketEvent => ({
    ...MARKET,
    outcomes,
    source_id: 'y',
    source_ts: NOW + 1,
  });
  const labelsAfter = (first: MarketEvent['outcomes'], then: MarketEvent['outcomes']): unknown => {
    const read = marketAfter(listedMarket({ ...MARKET, outcomes: first }), later(then));
    return read.ok ? read.state.outcomes.map(({ label }) => label) : read.refusal;
  };
  const [yes, no] = [
    { label: 'Yes', token_id: '11' },
    { label: 'No', token_id: '22' },
  ];

  it('keeps its index when a venue reverses the order of outcomes', () => {
    expect(labelsAfter([yes, no], [no, yes])).toEqual(['Yes', 'No']);
    expect(labelsAfter([{ label: 'Yes' }, { label: 'No' }], [no, yes])).toEqual(['Yes', 'No']);
  });

  it.each([
    [
      'the token counts more than the label',
      [
        { label: 'No', token_id: '11' },
        { label: 'Yes', token_id: '22' },
      ],
      ['No', 'Yes'],
    ],
    ['an unknown token is matched by its label', [no, { label: 'Yes', token_id: '33' }], ['Yes', 'No']],
    ['an unknown name refuses the event', [yes, { label: 'Nay', token_id: '33' }], 'outcomes_differ'],
    ['two outcomes that fit one refuse it', [yes, { label: 'Yes', token_id: '33' }], 'outcomes_differ'],
    ['a missing outcome refuses it', [yes], 'outcomes_differ'],
    ['an additional outcome refuses it', [yes, no, { label: 'Draw' }], 'outcomes_differ'],
  ])('is found by its names: %s', (_title, outcomes, expected) => {
    expect(labelsAfter([yes, no], outcomes)).toEqual(expected);
  });

  it('is found by each name that it has had, but not by a name that two have had', () => {
    const renamed = folded(MARKET, [
      later([
        { label: 'No', token_id: '11' },
        { label: 'Yes', token_id: '22' },
      ]),
    ]);
    const unclear = { ...later([{ label: 'Yes' }, { label: 'No', token_id: '22' }]), source_ts: NOW + 2 };
    expect(marketAfter(renamed, unclear)).toEqual({ ok: false, refusal: 'outcomes_differ' });
    const early = { ...later([yes, no]), source_ts: NOW - 1 };
    expect(marketAfter(renamed, early)).toMatchObject({ ok: true, state: { outcomes: renamed.outcomes } });
  });
});
