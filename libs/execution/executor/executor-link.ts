import type { LinkReply } from '#libs/link/link-protocol.js';
import type { OrderRefusal } from '../protocol/cell-protocol.js';
import type { ExecutorLinkRequest } from '../protocol/executor-protocol.js';
import { cellOf } from '../protocol/routing.js';
import { SignerFailure, VAULT_USER, type Signer } from '../protocol/signer-protocol.js';
import { toWire } from '../protocol/wire.js';
import { CredentialsRefused } from '../venues/credentials.js';
import { VenueUnavailable } from '../venues/port.js';
import { NoAccount, type LinkedAccounts } from './linked-accounts.js';
import type { BreakerBoard } from './breaker-board.js';
import { CellUnavailable, type CellClient } from './cell-client.js';
import type { PracticeCredit } from './practice-credit.js';
import type { Reconciler } from './reconciler.js';

export interface ExecutorLinkPorts {
  readonly cells: readonly CellClient[];
  readonly accounts: LinkedAccounts;
  readonly reconciler: Reconciler;
  readonly breakers: Pick<BreakerBoard, 'reset'>;
  readonly signer: Pick<Signer, 'status'>;
  /** For practice venues only. */
  readonly credit?: PracticeCredit | undefined;
}

type VaultOpening = Extract<ExecutorLinkRequest, { op: 'open_vault' }>;
type Linking = Extract<ExecutorLinkRequest, { op: 'link_venue' }>;

const STATUS: Readonly<Record<string, number>> = { EXCHANGE_NOT_LINKED: 409, SIGNER_REFUSED: 403 };
const UNAVAILABLE = 503;

/** Answers requests from gateways. */
export class ExecutorLinkHandler {
  constructor(private readonly ports: ExecutorLinkPorts) {}

  async handle(request: ExecutorLinkRequest): Promise<LinkReply> {
    try {
      switch (request.op) {
        case 'link_venue':
          return await this.link(request);
        case 'open_vault':
          return await this.openVault(request);
        case 'account_balances': {
          const account = await this.ports.accounts.of(request.user_id, request.venue);
          return wireReply(200, await account.balances());
        }
        case 'vault_balances':
          return wireReply(200, await (await this.ports.accounts.vault(request.venue)).balances());
        case 'signer_status':
          return wireReply(200, await this.ports.signer.status());
        case 'reset_breakers': {
          const { side, kind, time_in_force } = request;
          this.ports.breakers.reset({
            venue: request.venue,
            ...(side === undefined ? {} : { side }),
            ...(kind === undefined ? {} : { kind }),
            ...(time_in_force === undefined ? {} : { time_in_force }),
          });
          return wireReply(200, {});
        }
      }
    } catch (error) {
      return refusalOf(error);
    }
  }

  private async link({ user_id, venue, credentials, practice_credit }: Linking): Promise<LinkReply> {
    const { accounts, reconciler, cells } = this.ports;
    const cell = cells[cellOf(user_id, cells.length)];
    if (cell === undefined) throw new CellUnavailable('no cell has this user');
    const isNew = !(await accounts.has(user_id, venue));
    let linked: LinkReply | undefined;
    // Linked before the credentials are stored: a refused link changes nothing, and one that breaks off can be repeated.
    const account = await accounts.venue(venue).open(user_id, credentials, async (account) => {
      linked = await cell.link_account({ user_id, venue, account });
      if (linked.status >= UNAVAILABLE) throw new CellUnavailable(`the cell answered with ${linked.status}`);
      return linked.status === 200;
    });
    // An account that the user already owned has its own money.
    if (isNew && credentials === undefined) await this.ports.credit?.give(venue, account, practice_credit);
    accounts.forget(user_id, venue);
    reconciler.forget(user_id, venue);
    linked ??= await cell.link_account({ user_id, venue, account });
    // The cell now hands out the account to be read. Its feed need not wait for that.
    if (linked.status === 200) reconciler.follow(cell, user_id, venue);
    return linked;
  }

  /** The vault is not a user of any cell, so no cell hears of its account. */
  private async openVault({ venue, practice_credit, practice_shares }: VaultOpening): Promise<LinkReply> {
    const { accounts, credit } = this.ports;
    if (await accounts.has(VAULT_USER, venue)) return wireReply(200, {});
    const account = await accounts.venue(venue).open(VAULT_USER);
    await credit?.give(venue, account, practice_credit);
    for (const { amount, ...shares } of practice_shares) await credit?.give(venue, account, amount, shares);
    return wireReply(201, {});
  }
}

function refusalOf(error: unknown): LinkReply {
  if (error instanceof CredentialsRefused) {
    const details = { field: 'credentials' };
    return refused(400, { code: 'VALIDATION_INVALID_PARAMETER', message: error.message, details });
  }
  if (error instanceof NoAccount || error instanceof SignerFailure) {
    const code = error instanceof NoAccount ? error.failure.code : error.code;
    return refused(STATUS[code] ?? UNAVAILABLE, { code, message: error.message });
  }
  if (error instanceof VenueUnavailable)
    return refused(UNAVAILABLE, { code: error.code, message: error.message });
  if (error instanceof CellUnavailable)
    return refused(UNAVAILABLE, { code: 'CELL_UNAVAILABLE', message: error.message });
  throw error;
}

function refused(status: number, refusal: OrderRefusal): LinkReply {
  return wireReply(status, refusal);
}

function wireReply(status: number, body: object): LinkReply {
  return { status, body: toWire(body) };
}
