import type { ClientBase } from 'pg';
import type { LedgerKey } from './ledger.js';

type Client = Pick<ClientBase, 'query'>;

/** A transfer between the vault and the trading domain of its owner. One atom of the vault is one millionth. */
export interface VaultTransfer extends LedgerKey {
  readonly transfer_id: string;
  readonly amount: bigint;
}

/** `known`: it was requested before. A transfer never takes what an auction has set aside. */
export type VaultHold = 'held' | 'known' | 'too little';

/** The vault's side of transfers. Each step takes effect once, however often it is requested. */
export class VaultTransfers {
  constructor(private readonly client: Client) {}

  /** Holds the amount in the vault: from now on no quote and no order can use it. */
  async hold({ transfer_id, account, venue, asset, amount }: VaultTransfer): Promise<VaultHold> {
    const { rows } = await this.client.query<{ result: VaultHold }>(
      'select custody.hold_transfer($1, $2, $3, $4, $5) as result',
      [transfer_id, account, venue, asset, String(amount)],
    );
    return rows[0]?.result ?? 'too little';
  }

  /** All transfers that are held and not yet sent, over all accounts. */
  async held(): Promise<readonly { readonly transfer_id: string; readonly account: string }[]> {
    const { rows } = await this.client.query<{ transfer_id: string; account: string }>(
      `select transfer_id, account_id as account from custody.transfers
       where status = 'HELD' and direction = 'from_vault' order by recorded_at`,
    );
    return rows;
  }

  async send(transferId: string): Promise<void> {
    await this.client.query('select custody.send_transfer($1)', [transferId]);
  }

  /** Ends the transfer: the amount has left the vault for good, or belongs to its owner in the vault again. */
  async end(transferId: string, isDone: boolean): Promise<void> {
    await this.client.query('select custody.end_transfer($1, $2)', [transferId, isDone]);
  }

  /** Receives a transfer from the owner's trading domain into the vault. */
  async receive({ transfer_id, account, venue, asset, amount }: VaultTransfer): Promise<void> {
    await this.client.query('select custody.receive_transfer($1, $2, $3, $4, $5)', [
      ...[transfer_id, account, venue, asset],
      String(amount),
    ]);
  }
}
