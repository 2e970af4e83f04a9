import type { ExecutorTask } from '../protocol/cell-protocol.js';
import type { OrderFailure } from '../rules/order.js';
import { VenueUnavailable, type VenueAccount } from '../venues/port.js';
import { NoAccount, type Accounts } from './accounts.js';
import type { Cell } from './cell.js';

export type TransferTask = Extract<ExecutorTask, { readonly kind: 'transfer' }>;

/**
 * Moves money between a user's account and the vault's. The reference is durable in the cell before anything is sent; a transfer that has
 * one is asked for before it is sent again, and then under the same one, by which the venue does it once.
 */
export class TransferTasks {
  constructor(private readonly accounts: Accounts) {}

  async carryOut(cell: Cell, task: TransferTask): Promise<void> {
    try {
      await this.move(cell, await this.accounts.of(task.user_id, task.venue), task);
    } catch (error) {
      if (error instanceof VenueUnavailable) {
        await cell.report(task.task_id, { report: { what: 'doubtful', reason: error.message } });
        return;
      }
      if (!(error instanceof NoAccount)) throw error;
      await this.unmoved(cell, task, error.failure);
      return;
    }
  }

  private async move(cell: Cell, account: VenueAccount, task: TransferTask): Promise<void> {
    const { asset, amount, direction, transfer_id } = task;
    if (task.reference !== undefined && (await account.transferred(task.reference))) {
      await this.end(cell, task, { step: 'completed', reference: task.reference });
      return;
    }
    const reference = task.reference ?? account.transferReference(transfer_id);
    if (task.reference === undefined && !(await this.step(cell, task, { step: 'sent', reference }))) return;
    const outcome = await account.transfer({ asset, amount, direction, reference });
    if (outcome === 'done') await this.end(cell, task, { step: 'completed', reference });
    else if (outcome === 'refused') await this.refused(cell, account, task, reference);
    else
      await cell.report(task.task_id, {
        report: { what: 'doubtful', reason: 'it is not known whether the venue has moved it' },
      });
  }

  /** A refusal of what was sent before may mean that it was done. */
  private async refused(
    cell: Cell,
    account: VenueAccount,
    task: TransferTask,
    reference: string,
  ): Promise<void> {
    if (await account.transferred(reference)) await this.end(cell, task, { step: 'completed', reference });
    else await this.end(cell, task, { step: 'failed', reference, failure: { code: 'VENUE_REJECTED' } });
  }

  /** Without the user's keys nothing was sent now; what was sent before stays in doubt. */
  private async unmoved(cell: Cell, task: TransferTask, failure: OrderFailure): Promise<void> {
    if (task.reference === undefined) await this.end(cell, task, { step: 'failed', failure });
    else
      await cell.report(task.task_id, {
        report: { what: 'doubtful', reason: failure.message ?? failure.code },
      });
  }

  private async end(
    cell: Cell,
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
    cell: Cell,
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
