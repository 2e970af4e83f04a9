import type { ClientBase } from 'pg';
import type { LedgerKey } from './ledger.js';

type Client = Pick<ClientBase, 'query'>;

/** Something of the vault that goes to, or comes from, where its owner trades. One atom of the vault is one millionth. */
export interface VaultTransfer extends LedgerKey {
  readonly transfer_id: string;
  readonly amount: bigint;
}

/** `known`: it was asked for before. Nothing of what an auction has set aside is ever taken. */
export type VaultHold = 'held' | 'known' | 'too little';

/** The vault's side of transfers. Each step is taken once, however often it is asked for. */
export class VaultTransfers {
  constructor(private readonly client: Client) {}

  /** No quote and no order can promise it from now on. */
  async hold({ transfer_id, account, venue, asset, amount }: VaultTransfer): Promise<VaultHold> {
    const { rows } = await this.client.query<{ result: VaultHold }>(
      'select custody.hold_transfer($1, $2, $3, $4, $5) as result',
      [transfer_id, account, venue, asset, String(amount)],
    );
    return rows[0]?.result ?? 'too little';
  }

  /** All that is held for somebody and not under way, of whichever account. */
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

  /** It has left the vault for good, or it is its owner's in the vault again. */
  async end(transferId: string, isDone: boolean): Promise<void> {
    await this.client.query('select custody.end_transfer($1, $2)', [transferId, isDone]);
  }

  /** From where its owner trades, into the vault. */
  async receive({ transfer_id, account, venue, asset, amount }: VaultTransfer): Promise<void> {
    await this.client.query('select custody.receive_transfer($1, $2, $3, $4, $5)', [
      ...[transfer_id, account, venue, asset],
      String(amount),
    ]);
  }
}
