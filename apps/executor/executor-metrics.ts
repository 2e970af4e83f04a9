import { Counter, Gauge, type Registry } from 'prom-client';
import type { Executor } from '#libs/execution/executor/executor.js';
import type { CallMeter } from '#libs/execution/executor/order-tasks.js';
import type { VenueId } from '#libs/execution/rules/venues.js';

const OUTCOMES = ['placed', 'refused', 'not-sent', 'doubtful', 'absent', 'amended', 'cancelled'] as const;
const OPERATIONS = ['submit', 'cancel', 'amend', 'read'] as const;

export function measureCalls(registry: Registry, venues: Iterable<VenueId>): CallMeter {
  const calls = new Counter({
    name: 'sotto_venue_calls_total',
    help: 'Requests to venues about orders, by outcome',
    labelNames: ['venue', 'operation', 'outcome'],
    registers: [registry],
  });
  // Starts each series at 0. Prometheus cannot see the growth of a series that starts with its first count.
  for (const venue of venues)
    for (const operation of OPERATIONS)
      for (const outcome of OUTCOMES) calls.inc({ venue, operation, outcome }, 0);
  return {
    called: (venue, operation, outcome) => {
      calls.inc({ venue, operation, outcome });
    },
  };
}

export function measureExecutor(registry: Registry, executor: Executor): void {
  new Gauge({
    name: 'sotto_executor_in_flight',
    help: 'Tasks of the cells that are in progress',
    registers: [registry],
    collect() {
      this.set(executor.carrying);
    },
  });
  new Gauge({
    name: 'sotto_executor_accounts',
    help: 'Accounts at venues that are followed',
    registers: [registry],
    collect() {
      this.set(executor.reconciler.watched);
    },
  });
  new Gauge({
    name: 'sotto_breakers_open',
    help: 'Breakers that are not closed, by venue and state',
    labelNames: ['venue', 'state'],
    registers: [registry],
    collect() {
      this.reset();
      for (const { venue, state } of executor.breakers.shown()) this.inc({ venue, state });
    },
  });
}
