import { createHash, hash } from 'node:crypto';
import type { CreateBody, ReviseBody, SubmitBody } from '#libs/auction/rules/commands.js';
import { shardOfCreate } from '#libs/auction/protocol/routing.js';
import type { OwnerRequest } from '#libs/auction/protocol/protocol.js';
import { IdempotencyIndex, type IdempotencyKey } from '#libs/shard/idempotency-index.js';

type Request<Op extends OwnerRequest['op']> = Extract<OwnerRequest, { op: Op }>;

let last = 0;

/** A key that was not used before. */
export function freshKey(): string {
  last += 1;
  return `key-${last}`;
}

/** A fresh key with which the account's create goes to this shard. */
export function keyLeadingTo(shard: number, account: string): string {
  for (;;) {
    const key = freshKey();
    if (shardOfCreate(account, key) === shard) return key;
  }
}

function named(account: string, key: string, content: unknown) {
  return {
    account,
    key,
    content: createHash('sha256').update(JSON.stringify(content)).digest('hex'),
    request_id: `request-${key}`,
  };
}

export type CreateOrder = Request<'create'>;

export function createOrder(account: string, key: string, body: CreateBody): CreateOrder {
  return { op: 'create', body, ...named(account, key, body) };
}

export function submitOrder(
  account: string,
  auctionId: string,
  body: SubmitBody,
  key = freshKey(),
): Request<'submit'> {
  return { op: 'submit', auction_id: auctionId, body, ...named(account, key, body) };
}

/** Names a quote of an auction. */
export interface QuoteName {
  readonly auction_id: string;
  readonly quote_id: string;
}

export function reviseOrder(
  account: string,
  { auction_id, quote_id }: QuoteName,
  body: ReviseBody,
  key = freshKey(),
): Request<'revise'> {
  return { op: 'revise', auction_id, quote_id, body, ...named(account, key, [quote_id, body]) };
}

export function withdrawOrder(
  account: string,
  { auction_id, quote_id }: QuoteName,
  key = freshKey(),
): Request<'withdraw'> {
  return { op: 'withdraw', auction_id, quote_id, ...named(account, key, quote_id) };
}

export function withdrawAllOrder(
  account: string,
  scope: { readonly auction_ids?: readonly string[]; readonly venue?: string } = {},
  key = freshKey(),
): Request<'withdraw_all'> {
  return { op: 'withdraw_all', metered: true, ...scope, ...named(account, key, scope) };
}

export function cancelOrder(
  account: string,
  auctionId: string,
  key = freshKey(),
  reason?: string,
): Request<'cancel'> {
  const body = reason === undefined ? {} : { reason };
  return { op: 'cancel', auction_id: auctionId, ...body, ...named(account, key, body) };
}

/**
 * Two keys with the same hash in an idempotency index, for this account and operation. Among a hundred thousand keys there are
 * some.
 */
export function collidingKeys(command: Omit<IdempotencyKey, 'key'>): [string, string] {
  const keysByHash = new Map<number, string>();
  for (let attempt = 0; ; attempt += 1) {
    const key = hash('sha256', String(attempt), 'hex').slice(0, 32);
    const index = new IdempotencyIndex();
    index.note({ ...command, key }, 1);
    const [[number] = [0]] = index.upTo(1);
    const other = keysByHash.get(number);
    if (other !== undefined) return [other, key];
    keysByHash.set(number, key);
  }
}
