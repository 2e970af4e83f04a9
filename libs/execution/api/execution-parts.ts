import type { ApiKeyService } from '#libs/identity/api-keys/api-key-service.js';
import type { AccessFlags, ProviderAccessBook } from '#libs/identity/api-keys/provider-access.js';
import type { Clock } from '#libs/platform/time/clock.js';
import type { Micros } from '../rules/micros.js';
import type { Cells } from './cells.js';
import type { ExecutorClient } from './executor-client.js';
import type { OperatorBook } from './operators/operator-book.js';
import type { SwitchBook } from './operators/switch-book.js';
import { OrderDesk } from './orders/order-desk.js';
import { OrderReads } from './orders/order-reads.js';
import { PlatformAccess } from './platform-access.js';
import type { ProjectedReads } from './reads.js';
import type { Venues } from './venues.js';

/** What a process opens for the API of order execution. */
export interface OpenedParts {
  readonly cells: Cells;
  readonly executor: ExecutorClient;
  readonly venues: Venues;
  readonly reads: ProjectedReads;
  readonly access: AccessFlags & Pick<ProviderAccessBook, 'set'>;
  readonly keys: Pick<ApiKeyService, 'grant' | 'revokeAny'>;
  readonly switches: Pick<SwitchBook, 'isHalted' | 'list' | 'set'>;
  readonly operators: Pick<OperatorBook, 'act' | 'write'>;
  readonly clock: Clock;
  readonly newId: () => string;
  /** The smallest quantity that may be bought. */
  readonly minimum: Micros;
}

/** Everything that the handlers of one gateway need. */
export class ExecutionParts {
  readonly desk: OrderDesk;
  readonly orderReads: OrderReads;
  readonly platformAccess: PlatformAccess;

  constructor(readonly opened: OpenedParts) {
    const { cells, venues, access, clock, newId: newKey, minimum, reads } = opened;
    this.platformAccess = new PlatformAccess(access);
    this.desk = new OrderDesk({ cells, venues, access: this.platformAccess, clock, newKey, minimum });
    this.orderReads = new OrderReads(cells, reads);
  }

  get cells(): Cells {
    return this.opened.cells;
  }

  get venues(): Venues {
    return this.opened.venues;
  }

  get clock(): Clock {
    return this.opened.clock;
  }
}
