import type { Provider } from '@nestjs/common';
import type { Pool } from 'pg';
import { Halts } from '../../admission/policy/halts.js';
import { OperatorActions } from '../../admission/policy/operator-actions.js';
import type { JournalReader } from '#libs/journal/journal.js';
import type { Clock } from '#libs/platform/time/clock.js';
import type { Logger } from '#libs/platform/process/log.js';
import type { OwnerRouter } from '../owner-router.js';
import { JournalBook } from './journal-book.js';
import { OwnerOrders } from './owner-orders.js';
import { OwnerProbe } from './owner-probe.js';
import { PolicyInForce } from './policy-in-force.js';
import { ShardBoard } from './shard-board.js';
import { CLOCK } from '../tokens.js';

export interface OperatorParts {
  readonly pool: Pool;
  readonly projections: Pool;
  readonly journal: JournalReader;
  readonly owners: OwnerRouter;
  readonly ownerUrls: readonly string[];
  readonly clock: Clock;
  readonly newId: () => string;
  readonly log: Logger;
}

/** The providers of the operators' controllers. */
export function operatorProviders(parts: OperatorParts): Provider[] {
  const { pool, projections, journal, owners, ownerUrls, clock, newId, log } = parts;
  const actions = new OperatorActions(pool);
  const board = new ShardBoard({
    owners,
    clock,
    probe: new OwnerProbe(ownerUrls),
    book: new JournalBook(projections, journal),
  });
  const onFault = (error: unknown, requestId: string): void => {
    log.error({ err: error, request_id: requestId }, 'the outcome of an order could not be logged');
  };
  return [
    { provide: OperatorActions, useValue: actions },
    { provide: Halts, useValue: new Halts(pool) },
    { provide: ShardBoard, useValue: board },
    { provide: OwnerOrders, useValue: new OwnerOrders({ owners, actions, newId, onFault }) },
    { provide: PolicyInForce, useValue: new PolicyInForce({ owners, clock }) },
    { provide: CLOCK, useValue: clock },
  ];
}
