import type { Clock } from '#libs/platform/time/clock.js';
import { AccountBuckets, type BucketRules, KeyedBuckets, ruleOf } from '#libs/shard/tokens/buckets.js';
import { TokenExchange } from '#libs/shard/tokens/token-exchange.js';
import { TokenHome } from '#libs/shard/tokens/token-home.js';
import type { LeasesRecalled, TokenPeer, TokensGranted } from '#libs/shard/tokens/token-messages.js';
import {
  ACCOUNT_LIMITS,
  type BucketName,
  BUCKETS,
  LEASED_BUCKETS,
  type OwnerLink,
  type OwnerRequest,
  QUOTE_PER_AUCTION_LIMIT,
} from '../protocol/protocol.js';
import { homeShard, SHARDS } from '../protocol/routing.js';
import type { ShardPorts } from './shard-ports.js';

export interface AuctionTokens {
  readonly home: TokenHome<BucketName>;
  readonly exchange: TokenExchange<BucketName>;
}

export function composeTokens({ clock, peers, settings, shard, tracing, writer }: ShardPorts): AuctionTokens {
  const rules = bucketRules(settings.limitsFactor);
  const others = new Map([...peers].map(([number, link]) => [number, tokenPeer(link)]));
  const home = new TokenHome({ clock, peers: others, buckets: new AccountBuckets(clock, rules) });
  const exchange = new TokenExchange({
    clock,
    holder: { shard, epoch: writer.head.epoch },
    peers: others,
    homeOf: homeShard,
    home,
    alone: new AccountBuckets(clock, rules, SHARDS),
    tracing,
  });
  return { home, exchange };
}

export function bucketRules(factor: number): BucketRules<BucketName> {
  return { names: BUCKETS, limits: ACCOUNT_LIMITS, leased: LEASED_BUCKETS, factor };
}

/** Submits and revisions by account and auction. An auction has one owner, so no other shard is asked. */
export class QuoteMeter {
  private readonly buckets: KeyedBuckets;

  constructor(clock: Clock, factor: number) {
    this.buckets = new KeyedBuckets(clock, ruleOf(QUOTE_PER_AUCTION_LIMIT, factor));
  }

  has(account: string, auctionId: string): boolean {
    return this.buckets.available(`${account}/${auctionId}`) >= 1;
  }

  take(account: string, auctionId: string): boolean {
    return this.buckets.take(`${account}/${auctionId}`);
  }
}

/** Asks the owner of another shard over the link. */
export function tokenPeer(link: Pick<OwnerLink, 'request' | 'connection'>): TokenPeer<BucketName> {
  async function ask(request: OwnerRequest, patienceMillis: number): Promise<string | undefined> {
    const { status, body } = await link.request(request, patienceMillis);
    return status === 200 ? body : undefined;
  }
  return {
    get connection() {
      return link.connection;
    },
    async takeTokens(message, patienceMillis) {
      const body = await ask({ op: 'take_tokens', ...message }, patienceMillis);
      return body === undefined ? undefined : (JSON.parse(body) as TokensGranted);
    },
    async recallLeases(message, patienceMillis) {
      const body = await ask({ op: 'call_in', ...message }, patienceMillis);
      return body === undefined ? undefined : (JSON.parse(body) as LeasesRecalled);
    },
  };
}
