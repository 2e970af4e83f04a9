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
const event = (award_id: string, step: Step, attempt = 1) =>
  [at(61_000), `EXECUTION_${step}`, { award_id, attempt }] as const;
const end = (status: string) => [at(61_000), 'AUCTION_COMPLETED', { status }] as const;

describe('a report of an award', () => {
  it('is journaled as it came', () => {
    two.when(report(MIA, 'SUBMITTED')).then(event(MIA, 'SUBMITTED'));
    const submitted = two.and(report(MIA, 'SUBMITTED'));
    for (const step of ['CONFIRMED', 'FAILED'] as const)
      submitted.when(report(MIA, step)).then(event(MIA, step));
    submitted.when(report(MIA, 'RETRYING', 2)).then(event(MIA, 'RETRYING', 2));
  });

  it('is journaled with its reason, and without other fields that the report may contain', () => {
    const sent = { award_id: MIA, step: 'FAILED', attempt: 1, reason: 'venue down', op: 'report' } as const;
    two
      .and(report(MIA, 'SUBMITTED'))
      .when(reports(sent))
      .then([at(61_000), 'EXECUTION_FAILED', { award_id: MIA, attempt: 1, reason: 'venue down' }]);
  });

  it('of a confirmation is journaled with the settled route, and without other fields', () => {
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
      .then(event(MIA, 'FAILED'));
  });

  it('moves the auction to EXECUTING when it is the first', () => {
    for (const step of ['SUBMITTED', 'RETRYING', 'CONFIRMED', 'FAILED'] as const) {
      const { status, awards } = two.and(report(MIA, step, 2)).state;
      expect([status, awards[1]?.execution_status]).toEqual(['EXECUTING', 'PENDING']);
    }
  });
});

describe('steps whose reports were lost are journaled too', () => {
  it('SUBMITTED before any other step', () => {
    for (const step of ['CONFIRMED', 'FAILED'] as const) {
      two.when(report(MIA, step)).then(event(MIA, 'SUBMITTED'), event(MIA, step));
    }
    two.when(report(MIA, 'RETRYING', 2)).then(event(MIA, 'SUBMITTED'), event(MIA, 'RETRYING', 2));
  });

  it('RETRYING before the end of a later attempt', () => {
    const submitted = two.and(report(MIA, 'SUBMITTED'));
    for (const step of ['CONFIRMED', 'FAILED'] as const) {
      submitted.when(report(MIA, step, 3)).then(event(MIA, 'RETRYING', 3), event(MIA, step, 3));
      two
        .when(report(MIA, step, 2))
        .then(event(MIA, 'SUBMITTED'), event(MIA, 'RETRYING', 2), event(MIA, step, 2));
    }
  });

  it('the end belongs to the latest attempt, whatever number the report has', () => {
    const fifth = two.and(report(MIA, 'RETRYING', 5));
    for (const step of ['CONFIRMED', 'FAILED'] as const)
      fifth.when(report(MIA, step, 1)).then(event(MIA, step, 5));
  });

  it('an award that was never submitted may fail without an attempt, but not be confirmed without one', () => {
    two.when(report(MIA, 'FAILED', 0)).then(event(MIA, 'FAILED', 0));
    two.when(report(MIA, 'CONFIRMED', 0)).then(event(MIA, 'SUBMITTED'), event(MIA, 'CONFIRMED'));
  });
});

describe('a report without news changes nothing', () => {
  const submitted = two.and(report(MIA, 'SUBMITTED'));

  it('SUBMITTED again, even after a retry', () => {
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

  it('an attempt that was already reported', () => {
    const third = submitted.and(report(MIA, 'RETRYING', 3));
    third.when(report(MIA, 'RETRYING', 2)).then();
    third.when(report(MIA, 'RETRYING', 3)).then();
    third.when(report(MIA, 'RETRYING', 4)).then(event(MIA, 'RETRYING', 4));
    // A first attempt is no retry.
    two.when(report(MIA, 'RETRYING', 1)).then();
  });

  it.each<Step>(['CONFIRMED', 'FAILED'])('any report after %s', (last) => {
    const ended = submitted.and(report(MIA, last));
    for (const step of ['SUBMITTED', 'RETRYING', 'CONFIRMED', 'FAILED'] as const) {
      ended.when(report(MIA, step, 9)).then();
    }
  });

  it('a retry after the execution deadline, but the end of the award is still journaled', () => {
    const late = { now: at(120_001) };
    const { state } = submitted;
    const retrying = { award_id: MIA, step: 'RETRYING', attempt: 2 } as const;
    expect(decideExecution(state, retrying, late)).toEqual({ ok: true, events: [] });
    expect(decideExecution(state, retrying, { now: at(120_000) })).toMatchObject({ events: [{}] });
    expect(decideExecution(state, { ...retrying, step: 'FAILED' }, late)).toMatchObject({
      events: [{ body: { type: 'EXECUTION_FAILED', data: { attempt: 1 } } }],
    });
  });

  it('an unknown award, or no award yet', () => {
    two.when(report('unknown-award', 'CONFIRMED')).then();
    given(anOpenAuction(), aQuote('mia')).when(report(MIA, 'CONFIRMED')).then();
  });
});

describe('the auction is over when its last award has ended', () => {
  it.each<[Step, Step, string]>([
    ['CONFIRMED', 'CONFIRMED', 'SETTLED'],
    ['CONFIRMED', 'FAILED', 'PARTIALLY_SETTLED'],
    ['FAILED', 'CONFIRMED', 'PARTIALLY_SETTLED'],
    ['FAILED', 'FAILED', 'EXECUTION_FAILED'],
  ])('%s, then %s: %s', (first, second, status) => {
    const half = two.and(report(MIA, first));
    expect(half.state.completed_at).toBeUndefined();
    half.when(report(MAX, second)).then(event(MAX, 'SUBMITTED'), event(MAX, second), end(status));
    const { state } = half.and(report(MAX, second));
    expect(state).toMatchObject({ status, completed_at: at(61_000) });
    expect(state.books.map((book) => book.quotes[0]?.status)).toEqual(
      [first, second].map((step) => (step === 'CONFIRMED' ? 'SETTLED' : 'FAILED')),
    );
  });
});
