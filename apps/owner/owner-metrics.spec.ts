import { Registry } from 'prom-client';
import { expect, it } from '@jest/globals';
import type { SettlementOutcome } from '#libs/auction/settlement/settlement.js';
import type { ReservationDesk } from '#libs/auction/admission/reservation-desk.js';
import { OwnerMetrics } from './owner-metrics.js';

const IDLE_DESK: ReservationDesk = {
  reserve: () => Promise.resolve([]),
  release: () => Promise.resolve(),
  reconcile: () => Promise.resolve(),
  close: () => Promise.resolve(),
  totals: () => ({
    ...{ keys: 0, unwritten: 0, unwrittenSeconds: 0 },
    ...{ reserved: 0, refused: 0, commits: 0, aborts: 0, faults: 0 },
  }),
};

async function valueOf(registry: Registry, metric: string): Promise<string | undefined> {
  return /(\S+)$/.exec(await registry.getSingleMetricAsString(metric))?.[1];
}

it('counts awards that failed at their deadline, and no settled ones', async () => {
  const registry = new Registry();
  const metrics = new OwnerMetrics(registry, 1, () => undefined, IDLE_DESK);
  let outcome: SettlementOutcome['outcome'] = 'SETTLED';
  const settlement = { venue: 'venue_a', asset: 'rain/YES', delivered_atoms: 0 };
  const watched = metrics.watched({
    abandon: (awardId, reason) =>
      Promise.resolve(
        outcome === 'FAILED'
          ? { outcome, award_id: awardId, reason }
          : { outcome, award_id: awardId, settlement },
      ),
  });
  expect(await valueOf(registry, 'sotto_awards_given_up_total')).toBe('0');
  expect(await watched.abandon('a', 'late')).toEqual({ outcome: 'SETTLED', award_id: 'a', settlement });
  expect(await valueOf(registry, 'sotto_awards_given_up_total')).toBe('0');
  outcome = 'FAILED';
  expect(await watched.abandon('b', 'late')).toEqual({ outcome: 'FAILED', award_id: 'b', reason: 'late' });
  expect(await valueOf(registry, 'sotto_awards_given_up_total')).toBe('1');
});
