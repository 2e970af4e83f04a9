import { describe, expect, it } from '@jest/globals';
import { anOpenAuction, aQuote, at, CONTRACT } from '#libs/testing/auctions/builders.js';
import { closes, reports } from '#libs/testing/auctions/commands.js';
import { given } from '#libs/testing/auctions/given.js';
import { decideExecution, type ExecutionReport } from './execution.js';

type Step = ExecutionReport['step'];

const two = given(
  anOpenAuction({ quantity_atoms: 8 * CONTRACT }),
  aQuote('mia'),
  aQuote('max', { price_atoms: 600_000 }),
  closes(),
);
const MIA = 'award-of-quote-of-mia';
const MAX = 'award-of-quote-of-max';
const report = (award_id: string, step: Step, attempt = 1) => reports({ award_id, step, attempt });
const told = (award_id: string, step: Step, attempt = 1) =>
  [at(61_000), `EXECUTION_${step}`, { award_id, attempt }] as const;
const end = (status: string) => [at(61_000), 'AUCTION_COMPLETED', { status }] as const;

describe('what a venue did', () => {
  it('is told as it went', () => {
    two.when(report(MIA, 'SUBMITTED')).then(told(MIA, 'SUBMITTED'));
    const submitted = two.and(report(MIA, 'SUBMITTED'));
    for (const step of ['CONFIRMED', 'FAILED'] as const)
      submitted.when(report(MIA, step)).then(told(MIA, step));
    submitted.when(report(MIA, 'RETRYING', 2)).then(told(MIA, 'RETRYING', 2));
  });

  it('is told with its reason, and with nothing else that the carrier may have sent along', () => {
    const sent = { award_id: MIA, step: 'FAILED', attempt: 1, reason: 'venue down', op: 'report' } as const;
    two
      .and(report(MIA, 'SUBMITTED'))
      .when(reports(sent))
      .then([at(61_000), 'EXECUTION_FAILED', { award_id: MIA, attempt: 1, reason: 'venue down' }]);
  });

  it('is told with the route by which it was settled, and with nothing else of it, when it is confirmed', () => {
    const settlement = { venue: 'venue_a', asset: 'rain/YES', delivered_atoms: 7, transaction_id: 4 };
    const submitted = two.and(report(MIA, 'SUBMITTED'));
    submitted.when(reports({ award_id: MIA, step: 'CONFIRMED', attempt: 1, settlement })).then([
      at(61_000),
      'EXECUTION_CONFIRMED',
      {
        award_id: MIA,
        attempt: 1,
        settlement: { venue: 'venue_a', asset: 'rain/YES', delivered_atoms: 7 },
      },
    ]);
    submitted
      .when(reports({ award_id: MIA, step: 'FAILED', attempt: 1, settlement }))
      .then(told(MIA, 'FAILED'));
  });

  it('moves the auction to EXECUTING at the first word', () => {
    for (const step of ['SUBMITTED', 'RETRYING', 'CONFIRMED', 'FAILED'] as const) {
      const { status, awards } = two.and(report(MIA, step, 2)).state;
      expect([status, awards[1]?.execution_status]).toEqual(['EXECUTING', 'PENDING']);
    }
  });
});

describe('where reports were lost, the steps that must have been are told too', () => {
  it('submitted, before any other word', () => {
    for (const step of ['CONFIRMED', 'FAILED'] as const) {
      two.when(report(MIA, step)).then(told(MIA, 'SUBMITTED'), told(MIA, step));
    }
    two.when(report(MIA, 'RETRYING', 2)).then(told(MIA, 'SUBMITTED'), told(MIA, 'RETRYING', 2));
  });

  it('tried again, before the end of a later attempt', () => {
    const submitted = two.and(report(MIA, 'SUBMITTED'));
    for (const step of ['CONFIRMED', 'FAILED'] as const) {
      submitted.when(report(MIA, step, 3)).then(told(MIA, 'RETRYING', 3), told(MIA, step, 3));
      two
        .when(report(MIA, step, 2))
        .then(told(MIA, 'SUBMITTED'), told(MIA, 'RETRYING', 2), told(MIA, step, 2));
    }
  });

  it('the latest attempt is the one that ended, whatever the carrier counts', () => {
    const fifth = two.and(report(MIA, 'RETRYING', 5));
    for (const step of ['CONFIRMED', 'FAILED'] as const)
      fifth.when(report(MIA, step, 1)).then(told(MIA, step, 5));
  });

  it('an award that was never submitted fails without an attempt, and cannot have been confirmed so', () => {
    two.when(report(MIA, 'FAILED', 0)).then(told(MIA, 'FAILED', 0));
    two.when(report(MIA, 'CONFIRMED', 0)).then(told(MIA, 'SUBMITTED'), told(MIA, 'CONFIRMED'));
  });
});

describe('what is no news changes nothing', () => {
  const submitted = two.and(report(MIA, 'SUBMITTED'));

  it('submitted again, even after a retry', () => {
    submitted.when(report(MIA, 'SUBMITTED')).then();
    submitted
      .and(report(MIA, 'RETRYING', 2))
      .when(report(MIA, 'SUBMITTED'))
      .then();
    two
      .and(report(MIA, 'RETRYING', 2))
      .when(report(MIA, 'SUBMITTED', 1))
      .then();
  });

  it('an attempt that was told of', () => {
    const third = submitted.and(report(MIA, 'RETRYING', 3));
    third.when(report(MIA, 'RETRYING', 2)).then();
    third.when(report(MIA, 'RETRYING', 3)).then();
    third.when(report(MIA, 'RETRYING', 4)).then(told(MIA, 'RETRYING', 4));
    // The first attempt is none that was made again.
    two.when(report(MIA, 'RETRYING', 1)).then();
  });

  it.each<Step>(['CONFIRMED', 'FAILED'])('anything after %s', (last) => {
    const ended = submitted.and(report(MIA, last));
    for (const step of ['SUBMITTED', 'RETRYING', 'CONFIRMED', 'FAILED'] as const) {
      ended.when(report(MIA, step, 9)).then();
    }
  });

  it('another attempt behind the deadline, though its end is', () => {
    const late = { now: at(120_001) };
    const { state } = submitted;
    const retrying = { award_id: MIA, step: 'RETRYING', attempt: 2 } as const;
    expect(decideExecution(state, retrying, late)).toEqual({ ok: true, events: [] });
    expect(decideExecution(state, retrying, { now: at(120_000) })).toMatchObject({ events: [{}] });
    expect(decideExecution(state, { ...retrying, step: 'FAILED' }, late)).toMatchObject({
      events: [{ body: { type: 'EXECUTION_FAILED', data: { attempt: 1 } } }],
    });
  });

  it('an award that nobody knows, or before there is any', () => {
    two.when(report('award-of-nobody', 'CONFIRMED')).then();
    given(anOpenAuction(), aQuote('mia')).when(report(MIA, 'CONFIRMED')).then();
  });
});

describe('with the last award the auction is over', () => {
  it.each<[Step, Step, string]>([
    ['CONFIRMED', 'CONFIRMED', 'SETTLED'],
    ['CONFIRMED', 'FAILED', 'PARTIALLY_SETTLED'],
    ['FAILED', 'CONFIRMED', 'PARTIALLY_SETTLED'],
    ['FAILED', 'FAILED', 'EXECUTION_FAILED'],
  ])('%s, then %s: %s', (first, second, status) => {
    const half = two.and(report(MIA, first));
    expect(half.state.completed_at).toBeUndefined();
    half.when(report(MAX, second)).then(told(MAX, 'SUBMITTED'), told(MAX, second), end(status));
    const { state } = half.and(report(MAX, second));
    expect(state).toMatchObject({ status, completed_at: at(61_000) });
    expect(state.books.map((book) => book.quotes[0]?.status)).toEqual(
      [first, second].map((step) => (step === 'CONFIRMED' ? 'SETTLED' : 'FAILED')),
    );
  });
});
