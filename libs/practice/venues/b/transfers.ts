import { z } from 'zod';
import type { Movement } from '../../venue/terms.js';
import type { PracticeVenuePort } from '../../venue/venue-reads.js';
import type { VenueAnswer } from '../venue-shell.js';
import { accountNamed, engineAccount, SHARDS, type CollateralShard } from './accounts.js';
import { cashDollars, micros } from './fixed-point.js';
import { page } from './page.js';
import { ownerOf } from './orders.js';
import { invalid, notFound, refusalAnswer, refused } from './refusals.js';

const MILLIS = 1_000;
const PLACES = 6;
/** Amounts between shards are in hundredths of a cent. */
const MICROS_OF_CENTICENT = 100;

const shard = z
  .number()
  .int()
  .refine((index): index is CollateralShard => index === 0 || index === 1);
const transferId = z.string().regex(/^[\w.:-]{1,64}$/);
const shardsBody = z.object({
  source: z.literal('event_contract'),
  destination: z.literal('event_contract'),
  amount: z
    .number()
    .int()
    .positive()
    .max(Number.MAX_SAFE_INTEGER / MICROS_OF_CENTICENT),
  source_exchange_shard: shard.default(0),
  destination_exchange_shard: shard.default(0),
  source_subaccount: z.literal(0).optional(),
  destination_subaccount: z.literal(0).optional(),
  /** Ours: with it the call can be repeated safely. */
  client_transfer_id: transferId.optional(),
});
const accountsBody = z.object({
  client_transfer_id: transferId,
  to_account: z.string().max(128),
  amount_dollars: z.string().max(32),
  from_exchange_index: shard.default(0),
  to_exchange_index: shard.default(0),
});

/**
 * Moves money between an account's two shards as the published client does, and between two accounts at a path of
 * ours (`/portfolio/account_transfers`). The published protocol only moves money between subaccounts of one member.
 */
export class BTransfers {
  constructor(private readonly venue: PracticeVenuePort) {}

  async betweenShards(account: string, body: unknown): Promise<VenueAnswer> {
    const read = shardsBody.safeParse(body);
    if (!read.success) return invalid(z.prettifyError(read.error));
    const {
      source_exchange_shard: from,
      destination_exchange_shard: to,
      amount,
      client_transfer_id,
    } = read.data;
    if (from === to) return invalid('source and destination are the same');
    const id = client_transfer_id === undefined ? this.venue.newId() : `${account}:${client_transfer_id}`;
    const reply = await this.venue.ask({
      ...{
        do: 'transfer',
        once: `shards/${id}`,
        movement_id: id,
        amount: String(amount * MICROS_OF_CENTICENT),
      },
      ...{ from: engineAccount(account, from), to: engineAccount(account, to) },
    });
    if (!reply.ok && reply.refusal !== 'known') return refusalAnswer(reply.refusal);
    return { status: 200, body: { transfer_id: id } };
  }

  shardTransfers(account: string, query: URLSearchParams): VenueAnswer {
    const result = page(this.shardMovements(account), query);
    if (result === undefined) return invalid('limit or cursor');
    return { status: 200, body: { transfers: result.items.map(shardRecord), cursor: result.cursor } };
  }

  shardTransfer(account: string, id: string): VenueAnswer {
    const found = this.shardMovements(account).find(({ movement_id }) => movement_id === id);
    return found === undefined
      ? notFound('no transfer has this id')
      : { status: 200, body: { transfer: shardRecord(found) } };
  }

  /** Done once per payer and `client_transfer_id`. A repeated call gets the result of the first. */
  async betweenAccounts(account: string, body: unknown): Promise<VenueAnswer> {
    const read = accountsBody.safeParse(body);
    if (!read.success) return invalid(z.prettifyError(read.error));
    const { client_transfer_id: clientId, from_exchange_index, to_exchange_index } = read.data;
    const to = accountNamed(this.venue.reads, read.data.to_account);
    const amount = micros(read.data.amount_dollars, PLACES);
    if (amount === undefined || amount === 0) return invalid('amount_dollars is no amount');
    if (to === undefined || to === account) return refused(404, 'not_found', 'no such account');
    const movementId = movementOf(account, clientId);
    const reply = await this.venue.ask({
      ...{ do: 'transfer', once: `accounts/${movementId}`, movement_id: movementId, amount: String(amount) },
      ...{ from: engineAccount(account, from_exchange_index), to: engineAccount(to, to_exchange_index) },
    });
    if (!reply.ok && reply.refusal !== 'known') return refusalAnswer(reply.refusal);
    const done = this.accountMovements(account).find((one) => one.movement_id === movementId);
    if (done === undefined) return refused(409, 'already_exists', 'this id was used otherwise');
    const result = accountRecord(account, done);
    const isSame = result.to_account === to && done.amount === BigInt(amount) * BigInt(MILLION);
    return isSame
      ? { status: 200, body: { transfer: result } }
      : refused(409, 'already_exists', 'this id moved something else');
  }

  /** Transfers that the account paid or received. */
  accountTransfers(account: string, query: URLSearchParams): VenueAnswer {
    const result = page(this.accountMovements(account), query);
    if (result === undefined) return invalid('limit or cursor');
    return {
      status: 200,
      body: { transfers: result.items.map((one) => accountRecord(account, one)), cursor: result.cursor },
    };
  }

  /** A transfer that the account paid, by its own id, or one that it received, by `<payer>:<id>`. */
  accountTransfer(account: string, id: string): VenueAnswer {
    const found = this.accountMovements(account).find(
      ({ movement_id }) => movement_id === movementOf(account, id) || movement_id === id,
    );
    return found === undefined
      ? notFound('no transfer has this id')
      : { status: 200, body: { transfer: accountRecord(account, found) } };
  }

  private shardMovements(account: string): readonly Movement[] {
    return this.transfersOf(account).filter(
      ({ kind, with: other = '' }) => kind === 'transfer-out' && ownerOf(other) === account,
    );
  }

  private accountMovements(account: string): readonly Movement[] {
    return this.transfersOf(account).filter(({ with: other = '' }) => ownerOf(other) !== account);
  }

  private transfersOf(account: string): readonly Movement[] {
    return SHARDS.flatMap((index) => this.venue.reads.movementsOf(engineAccount(account, index)))
      .filter(({ kind }) => kind === 'transfer-in' || kind === 'transfer-out')
      .sort((a, b) => a.at - b.at);
  }
}

const MILLION = 1_000_000;

function movementOf(payer: string, clientId: string): string {
  return `${payer}:${clientId}`;
}

function shardOf(account: string): number {
  return Number(account.slice(account.lastIndexOf('/') + 1));
}

function shardRecord({ movement_id, account, with: other = '', amount, at }: Movement): object {
  return {
    ...{ transfer_id: movement_id, source: 'event_contract', destination: 'event_contract' },
    ...{ source_exchange_shard: shardOf(account), destination_exchange_shard: shardOf(other) },
    ...{ amount: cashDollars(amount), status: 'complete', created_ts: Math.floor(at / MILLIS) },
  };
}

function accountRecord(
  account: string,
  { movement_id: id, kind, with: other = '', amount, at }: Movement,
): { readonly to_account: string } & Readonly<Record<string, unknown>> {
  const [from, to] = kind === 'transfer-out' ? [account, ownerOf(other)] : [ownerOf(other), account];
  return {
    ...{ transfer_id: id, client_transfer_id: id.slice(from.length + 1), from_account: from, to_account: to },
    direction: kind === 'transfer-out' ? 'out' : 'in',
    ...{ amount_dollars: cashDollars(amount), status: 'complete', created_ts: Math.floor(at / MILLIS) },
  };
}
