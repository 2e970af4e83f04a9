import { pause, type Clock } from '#libs/platform/time/clock.js';
import type { ExecutorTask } from '../protocol/cell-protocol.js';
import type { OrderFailure } from '../rules/order.js';
import { VenueUnavailable, type VenueAccount } from '../venues/port.js';
import { NoAccount, type LinkedAccounts } from './linked-accounts.js';
import type { CellClient } from './cell-client.js';

export type TransferTask = Extract<ExecutorTask, { readonly kind: 'transfer' }>;

const TRIES = 20;
const AGAIN_MILLIS = 1_000;

/**
 * Moves money between a user's account and the vault's. The reference is durable in the cell before anything is sent; a transfer that has
 * one is asked for before it is sent again, and then under the same one, by which the venue does it once.
 */
export class TransferTasks {
  constructor(
    private readonly accounts: LinkedAccounts,
    private readonly clock: Clock,
  ) {}

  /** What is in doubt for long is left to the cell, which gives it out again. */
  async carryOut(cell: CellClient, task: TransferTask): Promise<void> {
    try {
      await this.move(cell, await this.accounts.of(task.user_id, task.venue), task);
    } catch (error) {
      if (!(error instanceof NoAccount) || task.reference !== undefined) throw error;
      await this.end(cell, task, { step: 'failed', failure: error.failure });
    }
  }

  private async move(cell: CellClient, account: VenueAccount, task: TransferTask): Promise<void> {
    const { asset, amount, direction, transfer_id } = task;
    if (task.reference !== undefined && (await account.transferred(task.reference))) {
      await this.end(cell, task, { step: 'completed', reference: task.reference });
      return;
    }
    if (task.reference === undefined) await this.accounts.needVault(task.venue);
    const reference = task.reference ?? account.transferReference(transfer_id);
    if (task.reference === undefined && !(await this.step(cell, task, { step: 'sent', reference }))) {
      // It goes on under another reference, and the cell looks at it again.
      await cell.report(task.task_id, { report: { what: 'returned' } });
      return;
    }
    for (let tries = 1; ; tries += 1) {
      const outcome = await account.transfer({ asset, amount, direction, reference });
      if (outcome === 'done') return this.end(cell, task, { step: 'completed', reference });
      if (outcome === 'refused') return this.refused(cell, account, task, reference);
      if (tries === TRIES) throw new VenueUnavailable('it is not known whether the venue has moved it');
      await pause(this.clock, AGAIN_MILLIS);
    }
  }

  /** A refusal of what was sent before may mean that it was done. */
  private async refused(
    cell: CellClient,
    account: VenueAccount,
    task: TransferTask,
    reference: string,
  ): Promise<void> {
    if (await account.transferred(reference)) await this.end(cell, task, { step: 'completed', reference });
    else await this.end(cell, task, { step: 'failed', reference, failure: { code: 'VENUE_REJECTED' } });
  }

  private async end(
    cell: CellClient,
    task: TransferTask,
    told: {
      readonly step: 'completed' | 'failed';
      readonly reference?: string;
      readonly failure?: OrderFailure;
    },
  ): Promise<void> {
    await this.step(cell, task, told);
    await cell.report(task.task_id, { report: { what: 'told' } });
  }

  private step(
    cell: CellClient,
    { user_id, transfer_id }: TransferTask,
    told: {
      readonly step: 'sent' | 'completed' | 'failed';
      readonly reference?: string;
      readonly failure?: OrderFailure;
    },
  ): Promise<boolean> {
    return cell.transferStep({ user_id, transfer_id, ...told });
  }
}
