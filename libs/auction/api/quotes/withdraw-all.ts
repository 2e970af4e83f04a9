import { Injectable } from '@nestjs/common';
import { errorReply } from '#libs/edge/reply/flat-errors.js';
import type { Reply } from '#libs/edge/reply/reply.js';
import type { LinkReply } from '#libs/link/link-protocol.js';
import type { OwnerRequest } from '../../protocol/protocol.js';
import { homeShard } from '../../protocol/routing.js';
import { OwnerRouter, passOn } from '../owner-router.js';

type WithdrawAllRequest = Extract<OwnerRequest, { op: 'withdraw_all' }>;

interface Part {
  readonly withdrawn: readonly string[];
  readonly not_withdrawable: readonly { readonly quote_id: string; readonly error: string }[];
}

const MAX_AUCTIONS = 256;
const TOO_MANY = errorReply(422, 'INVALID_TERMS', `auction_ids names at most ${MAX_AUCTIONS} auctions.`);

/**
 * One call to three shards. The account's home shard meters it and is asked first, so that a refusal refuses the
 * whole call. A shard that cannot be asked is named; a repeat with the same key runs there, and nowhere a second
 * time.
 */
@Injectable()
export class WithdrawAll {
  constructor(private readonly owners: OwnerRouter) {}

  async withdraw(request: WithdrawAllRequest): Promise<Reply> {
    if ((request.auction_ids?.length ?? 0) > MAX_AUCTIONS) return TOO_MANY;
    const home = homeShard(request.account);
    const first = await this.owners.ask(home, request);
    if (first.status !== 200 && first.status !== 503) return passOn(first);
    const others = this.owners.shards.filter((shard) => shard !== home);
    // Metered by the home shard, or by each shard if the home shard is away.
    const rest = { ...request, metered: first.status !== 200 };
    const replies = await Promise.all(others.map((shard) => this.owners.ask(shard, rest)));
    const conflict = replies.find(({ status }) => status === 409);
    if (conflict !== undefined) return passOn(conflict);
    const byShard = new Map([
      [home, first],
      ...others.map((shard, index) => [shard, replies[index]] as const),
    ]);
    return { status: 200, body: merged(this.owners.shards, byShard) };
  }
}

function merged(shards: readonly number[], replies: ReadonlyMap<number, LinkReply | undefined>): object {
  const parts = shards.map((shard) => {
    const reply = replies.get(shard);
    return reply?.status === 200 ? (JSON.parse(reply.body) as Part) : undefined;
  });
  return {
    withdrawn: parts.flatMap((part) => part?.withdrawn ?? []),
    not_withdrawable: parts.flatMap((part) => part?.not_withdrawable ?? []),
    shards: shards.map((shard, index) => ({
      shard,
      status: parts[index] === undefined ? 'UNAVAILABLE' : 'DONE',
    })),
  };
}
