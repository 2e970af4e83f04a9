import type { Instant } from '#libs/base/instant.js';
import type { VaultTransfers } from '#libs/ledger/vault-transfers.js';
import type { LinkReply } from '#libs/link/link-protocol.js';
import type { TraderRequest } from '../protocol/cell-protocol.js';
import { remainingOf } from '../rules/evolve.js';
import { feeOf } from '../rules/fees.js';
import { cashKey, tokenOf, type Transfer } from '../rules/holdings.js';
import { timesMicros, type Micros } from '../rules/micros.js';
import type { UserState } from '../rules/user.js';
import { CAPABILITIES } from '../rules/venues.js';
import { answer, cellTask, refusal, UNAVAILABLE, type CellTask, type CellDecision } from './cell-task.js';
import type { UserEntry } from './user-entry.js';
import type { Users } from './users.js';

type TransferRequest = Extract<TraderRequest, { op: 'transfer' }>;

/** The vault's side of transfers, in the database. */
export type VaultHolds = Pick<VaultTransfers, 'hold' | 'held' | 'end'>;

export interface TransferDeskPorts {
  readonly vault: VaultHolds;
  readonly users: Users;
  readonly newId: () => string;
  readonly isOurs: (user_id: string) => boolean;
  readonly submit: (task: CellTask) => boolean;
}

/** Transfers between the vault and an account at a venue. The amount is held here first, and then moved once at the venue. */
export class TransferDesk {
  /** Requests that are being answered, by user and the client's id. */
  private readonly underWay = new Map<string, Promise<LinkReply>>();

  constructor(private readonly ports: TransferDeskPorts) {}

  /** Runs before any command. Releases holds in the vault whose transfer never came into the journal. */
  async start(): Promise<void> {
    const { vault, users, isOurs } = this.ports;
    for (const { transfer_id, account } of await vault.held()) {
      const isKnown = users.find(account)?.head.holdings.transfers.has(transfer_id) === true;
      if (isOurs(account) && !isKnown) await vault.end(transfer_id, false);
    }
  }

  /** A repeat waits for the first request, so that both never hold the amount at the same time. */
  async transfer(request: TransferRequest): Promise<LinkReply> {
    const key = `${request.user_id}/${request.client_request_id}`;
    for (let first = this.underWay.get(key); first !== undefined; first = this.underWay.get(key)) await first;
    const reply = this.begin(request);
    this.underWay.set(key, reply);
    try {
      return await reply;
    } finally {
      this.underWay.delete(key);
    }
  }

  private begin(request: TransferRequest): Promise<LinkReply> {
    const transferId = this.ports.newId();
    const entry = this.ports.users.entryOf(request.user_id);
    const isKnown = earlierOf(entry, request) !== undefined;
    return request.direction === 'to_vault' || isKnown
      ? this.submit(entry, request, transferId)
      : this.fromVault(entry, request, transferId);
  }

  /** The amount is held in the vault before the transfer is accepted here. If it is refused, the hold is released. */
  private async fromVault(
    entry: UserEntry,
    request: TransferRequest,
    transfer_id: string,
  ): Promise<LinkReply> {
    const { vault } = this.ports;
    const { user_id: account, venue, asset, token, amount } = request;
    const isMoney = asset === CAPABILITIES[venue].settlement_currency;
    const inVault = {
      transfer_id,
      account,
      venue,
      asset: isMoney ? '' : (token?.vault_asset ?? asset),
      amount,
    };
    const held = await vault.hold(inVault).catch(() => undefined);
    if (held === undefined) return UNAVAILABLE;
    if (held === 'too little')
      return isMoney
        ? refusal('INSUFFICIENT_BALANCE', 'The vault has not as much money that is free.')
        : refusal('INSUFFICIENT_POSITION', 'The vault has not as many tokens that are free.');
    const reply = await this.submit(entry, request, transfer_id);
    if (!entry.head.holdings.transfers.has(transfer_id)) await vault.end(transfer_id, false);
    return reply;
  }

  private submit(entry: UserEntry, request: TransferRequest, transferId: string): Promise<LinkReply> {
    return new Promise((resolve) => {
      const task = cellTask((at) => this.decide(entry, request, { at, transferId }), resolve);
      if (!this.ports.submit(task)) resolve(UNAVAILABLE);
    });
  }

  private decide(
    entry: UserEntry,
    request: TransferRequest,
    { at, transferId: transfer_id }: { readonly at: Instant; readonly transferId: string },
  ): CellDecision {
    const { venue, asset, token, amount, direction, client_request_id, user_id } = request;
    const content = `${venue}/${asset}/${amount}/${direction}`;
    const earlier = earlierOf(entry, request);
    if (earlier !== undefined) return { events: [], reply: () => repeated(earlier, content) };
    if (!entry.head.holdings.links.has(venue))
      return refusedWith('EXCHANGE_NOT_LINKED', `${venue} is not linked.`);
    const isMoney = asset === CAPABILITIES[venue].settlement_currency;
    if (direction === 'to_vault' && freeOf(entry.head, request, isMoney) < amount)
      return isMoney
        ? refusedWith('INSUFFICIENT_BALANCE', 'There is not as much money that is free.')
        : refusedWith('INSUFFICIENT_POSITION', 'There are not as many tokens that are free.');
    const of = { transfer_id, venue, asset, ...(token === undefined ? {} : { token }) };
    const terms = { ...of, amount, direction, client_request_id, content };
    const transfer: Transfer = { terms, status: 'PENDING', created_at: at };
    return {
      events: [{ type: 'TRANSFER_HELD', at, user_id, venue, terms }],
      reply: () => answer('transfer', { transfer }),
    };
  }
}

function earlierOf({ head }: UserEntry, { client_request_id: id }: TransferRequest): Transfer | undefined {
  return [...head.holdings.transfers.values()].find(({ terms }) => terms.client_request_id === id);
}

function refusedWith(code: string, message: string): CellDecision {
  return { events: [], reply: () => refusal(code, message) };
}

function repeated(transfer: Transfer, content: string): LinkReply {
  if (transfer.terms.content === content) return answer('transfer', { transfer });
  return refusal('IDEMPOTENCY_KEY_CONFLICT', 'This id stands for another transfer.');
}

/** The amount that no order and no other transfer has reserved. */
function freeOf(user: UserState, { venue, asset }: TransferRequest, isMoney: boolean): Micros {
  const { holdings, live } = user;
  let free = 0n;
  if (isMoney) free = holdings.cash.get(cashKey(venue, asset))?.value ?? 0n;
  for (const position of holdings.positions.values())
    if (position.venue === venue && tokenOf(position) === asset) free += position.quantity;
  for (const order of live.values()) {
    const { terms } = order;
    if (terms.venue !== venue) continue;
    const quantity = remainingOf(order);
    if (isMoney && terms.side === 'buy') {
      const price = terms.kind === 'limit' ? order.price : terms.bound;
      free -= timesMicros(price, quantity, 'up') + feeOf(venue, { price, quantity, liquidity: 'taker' });
    }
    if (!isMoney && terms.side === 'sell' && tokenOf(terms) === asset) free -= quantity;
  }
  for (const { terms, status } of holdings.transfers.values()) {
    const isHeld = status === 'PENDING' || status === 'IN_TRANSIT';
    if (isHeld && terms.venue === venue && terms.asset === asset && terms.direction === 'to_vault')
      free -= terms.amount;
  }
  return free;
}
