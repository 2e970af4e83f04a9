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
 * Moves money between a user's account and the vault's. The reference is durable in the cell before the send. A
 * transfer with a reference is looked up before it is sent again, under the same reference.
 */
export class TransferTasks {
  constructor(
    private readonly accounts: LinkedAccounts,
    private readonly clock: Clock,
  ) {}

  /** A transfer that stays in doubt is left to the cell, which hands it out again. */
  async carryOut(cell: CellClient, task: TransferTask): Promise<void> {
    try {
      await this.move(cell, await this.accounts.of(task.user_id, task.venue, task.account), task);
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
      // The transfer already has another reference, so the cell checks it again.
      await cell.report(task.task_id, { report: { what: 'returned' } });
      return;
    }
    for (let tries = 1; ; tries += 1) {
      const outcome = await account.transfer({ asset, amount, direction, reference });
      if (outcome === 'done') return this.end(cell, task, { step: 'completed', reference });
      if (outcome === 'refused') return this.refused(cell, account, task, reference);
      if (tries === TRIES) throw new VenueUnavailable('the venue does not say whether the transfer was made');
      await pause(this.clock, AGAIN_MILLIS);
    }
  }

  /** An earlier send of this transfer may have succeeded, so a refusal is checked. */
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
    report: {
      readonly step: 'completed' | 'failed';
      readonly reference?: string;
      readonly failure?: OrderFailure;
    },
  ): Promise<void> {
    await this.step(cell, task, report);
    await cell.report(task.task_id, { report: { what: 'told' } });
  }

  private step(
    cell: CellClient,
    { user_id, transfer_id }: TransferTask,
    report: {
      readonly step: 'sent' | 'completed' | 'failed';
      readonly reference?: string;
      readonly failure?: OrderFailure;
    },
  ): Promise<boolean> {
    return cell.transferStep({ user_id, transfer_id, ...report });
  }
}
