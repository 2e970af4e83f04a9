import { z } from 'zod';
import { VAULT_USER, type Signer } from '../../protocol/signer-protocol.js';
import { dividedBy, type Micros } from '../../rules/micros.js';
import { VenueUnavailable, type VenueAccount } from '../port.js';
import { dollarsText } from './amounts.js';
import { bodyOf, goodAnswer } from '../answers.js';
import { refusalOf } from './orders.js';
import type { VenueBRequests } from './requests.js';
import { oneAccountTransfer } from './shapes.js';

export interface TransferParts {
  readonly requests: VenueBRequests;
  readonly signer: Signer;
  readonly user_id: string;
  readonly account: string;
}

type TransferInput = Parameters<VenueAccount['transfer']>[0];

const ACCOUNTS = '/portfolio/account_transfers';
const SHARDS = '/portfolio/intra_exchange_instance_transfer';
const ASSET = 'USD';
/** Transfers between shards are counted in hundredths of a cent. */
const CENTICENT = 100n;
const UNKNOWN_STATUS = 404;
const moved = z.object({ transfer_id: z.string() });

/**
 * Moves money between the user's account and the vault's, once per reference, and between the user's two shards. Only
 * the transfers of the payer carry the reference.
 */
export class Transfers {
  constructor(private readonly parts: TransferParts) {}

  transferReference(transfer_id: string): string {
    return transfer_id;
  }

  async transfer({
    asset,
    amount,
    direction,
    reference,
  }: TransferInput): Promise<'done' | 'refused' | 'doubtful'> {
    if (asset !== ASSET) return 'refused';
    const { requests, signer, user_id, account } = this.parts;
    const vault = await signer.accountOf(VAULT_USER, 'venue_b');
    if (vault === undefined) return 'refused';
    const [payer, to_account] = direction === 'to_vault' ? [user_id, vault.account] : [VAULT_USER, account];
    const { outcome } = await requests.signed({
      ...{ user_id: payer, method: 'POST', path: ACCOUNTS, operation: 'submit' },
      body: { client_transfer_id: reference, to_account, amount_dollars: dollarsText(amount) },
    });
    // A request that never left may be sent again under the same reference. The cell decides that.
    if (outcome.what !== 'answered') return 'doubtful';
    if (refusalOf(outcome.status, outcome.body) !== undefined) return 'refused';
    return goodAnswer(outcome, oneAccountTransfer) === undefined ? 'doubtful' : 'done';
  }

  /** Either side may have paid, and only the payer's transfers can be looked up by reference. */
  async transferred(reference: string): Promise<boolean> {
    const payers = [this.parts.user_id, VAULT_USER];
    for (const user_id of payers) {
      const { outcome } = await this.parts.requests.signed({
        ...{
          user_id,
          method: 'GET',
          path: `${ACCOUNTS}/${encodeURIComponent(reference)}`,
          operation: 'read',
        },
      });
      const isUnknown = outcome.what === 'answered' && outcome.status === UNKNOWN_STATUS;
      if (isUnknown && refusalOf(outcome.status, outcome.body) !== undefined) continue;
      if (goodTransfer(bodyOf(outcome))) return true;
      throw new VenueUnavailable('the answer has another form');
    }
    return false;
  }

  /** Rounded up to the venue's unit, so that enough arrives. */
  async betweenShards(from: number, to: number, amount: Micros, reference: string): Promise<void> {
    const { outcome } = await this.parts.requests.signed({
      ...{ user_id: this.parts.user_id, method: 'POST', path: SHARDS, operation: 'submit' },
      body: {
        ...{ source: 'event_contract', destination: 'event_contract' },
        ...{ source_exchange_shard: from, destination_exchange_shard: to },
        amount: Number(dividedBy(amount, CENTICENT, 'up')),
        client_transfer_id: reference,
      },
    });
    if (outcome.what === 'answered' && goodAnswer(outcome, moved) !== undefined) return;
    throw new VenueUnavailable('the collateral was not moved');
  }
}

function goodTransfer(body: unknown): boolean {
  return oneAccountTransfer.safeParse(body).success;
}
