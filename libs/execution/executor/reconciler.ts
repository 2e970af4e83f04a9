import type { Clock } from '#libs/platform/time/clock.js';
import type { ExecutorTask } from '../protocol/cell-protocol.js';
import type { VenueId } from '../rules/venues.js';
import { AccountWatch } from './account-watch.js';
import { NoAccount, type LinkedAccounts } from './linked-accounts.js';
import type { CellClient } from './cell-client.js';
import { Turns } from './turns.js';

export interface ReconcilerPorts {
  readonly accounts: LinkedAccounts;
  readonly clock: Clock;
  readonly onFault: (what: string, error: unknown) => void;
}

/** How many accounts are read at the same time. */
const AT_ONCE = 8;

/** Watches all linked accounts, each from the first time that its cell names it. */
export class Reconciler {
  private readonly watches = new Map<string, AccountWatch>();
  private readonly limiter = new Turns(AT_ONCE);

  constructor(private readonly ports: ReconcilerPorts) {}

  get watched(): number {
    return this.watches.size;
  }

  async carryOut(
    cell: CellClient,
    task: Extract<ExecutorTask, { readonly kind: 'reconcile' }>,
  ): Promise<void> {
    try {
      await (await this.watch(cell, task.user_id, task.venue)).pass();
    } catch (error) {
      if (!(error instanceof NoAccount)) throw error;
      await cell.report(task.task_id, { report: { what: 'not-sent', failure: error.failure } });
      return;
    }
    await cell.report(task.task_id, { report: { what: 'told' } });
  }

  /** Follows a trader's account from the first order on, without waiting for the first full read. */
  follow(cell: CellClient, user_id: string, venue: VenueId): void {
    if (this.watches.has(`${venue}/${user_id}`)) return;
    this.watch(cell, user_id, venue).catch((error: unknown) => {
      if (!(error instanceof NoAccount)) this.ports.onFault('feed', error);
    });
  }

  /** Follows the account from now on, with its present credentials. */
  async watch(cell: CellClient, user_id: string, venue: VenueId): Promise<AccountWatch> {
    const key = `${venue}/${user_id}`;
    const watched = this.watches.get(key);
    if (watched !== undefined) return watched;
    const { accounts, clock, onFault } = this.ports;
    const account = await accounts.of(user_id, venue);
    // Another call may have added it during the wait.
    const other = this.watches.get(key);
    if (other !== undefined) return other;
    const watch = new AccountWatch({ user_id, venue, account, cell, clock, turns: this.limiter, onFault });
    this.watches.set(key, watch);
    watch.start();
    return watch;
  }

  forget(user_id: string, venue: VenueId): void {
    const key = `${venue}/${user_id}`;
    this.watches.get(key)?.stop();
    this.watches.delete(key);
  }

  stop(): void {
    for (const watch of this.watches.values()) watch.stop();
  }
}
