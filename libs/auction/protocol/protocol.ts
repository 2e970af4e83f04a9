import type { CreateBody, ReviseBody, SubmitBody } from '../rules/commands.js';
import type { AwardSettlement } from '../rules/events.js';
import type { Atoms } from '#libs/base/money.js';
import type { LinkClient } from '#libs/link/link-client.js';
import type { LinkPeer, LinkReply } from '#libs/link/link-protocol.js';
import { ACTIVE_ONLY_HEADER, READ_FALLBACK_HEADER } from '#libs/platform/internal-server/internal-host.js';
import type { RecallLeases, TakeTokens } from '#libs/shard/tokens/token-messages.js';
import type { BucketLimit } from '#libs/shard/tokens/buckets.js';

/** The caller, as the gateway has verified it. It is sent next to the body, never as one of its fields. */
export interface CallerIdentity {
  readonly account: string;
  readonly request_id: string;
}

/** The caller's key for a command, and the hash of its content without that key. */
export interface CommandIdentity {
  readonly key: string;
  readonly content: string;
  /** After this instant the command is refused with COMMAND_EXPIRED. An earlier decision is still replied later. */
  readonly not_after?: string;
}

/** A stream connection whose quotes are withdrawn when it ends and is not resumed within its grace. */
export interface ConnectionClaim {
  readonly connection_id: string;
  readonly account: string;
  /** Counts the sockets of the connection. Only the end of the latest one is the connection's. */
  readonly attachment: number;
  /** Absent where the latest `hello` did not ask for it. Then the quotes stay. */
  readonly grace_ms?: number;
}

export interface ConnectionEnd {
  readonly connection_id: string;
  readonly attachment: number;
  /** `BYE` keeps the quotes, `LOST` does not. */
  readonly how: 'BYE' | 'LOST';
}

/** An operator's order, with its operator. */
export interface OperatorOrder {
  readonly operator: string;
  readonly request_id: string;
  readonly reason?: string;
}

export type BucketName = 'create' | 'cancel' | 'quote' | 'withdraw';

export type ExecutionStepName = 'SUBMITTED' | 'RETRYING' | 'CONFIRMED' | 'FAILED';

/** All requests to an owner. */
export type OwnerRequest =
  | ({ readonly op: 'create'; readonly body: CreateBody } & CallerIdentity & CommandIdentity)
  | ({ readonly op: 'cancel'; readonly auction_id: string; readonly reason?: string } & CallerIdentity &
      CommandIdentity)
  | ({
      readonly op: 'submit';
      readonly auction_id: string;
      readonly body: SubmitBody;
      readonly connection_id?: string;
    } & CallerIdentity &
      CommandIdentity)
  | ({
      readonly op: 'revise';
      readonly auction_id: string;
      readonly quote_id: string;
      readonly body: ReviseBody;
    } & CallerIdentity &
      CommandIdentity)
  | ({
      readonly op: 'withdraw';
      readonly auction_id: string;
      readonly quote_id: string;
      readonly expected_revision?: number;
    } & CallerIdentity &
      CommandIdentity)
  | ({
      readonly op: 'withdraw_all';
      /** The whole call counts once, at the account's home shard. */
      readonly metered: boolean;
      readonly auction_ids?: readonly string[];
      readonly venue?: string;
    } & CallerIdentity &
      CommandIdentity)
  | ({ readonly op: 'auction'; readonly auction_id: string } & CallerIdentity)
  | ({
      readonly op: 'events';
      readonly auction_id: string;
      readonly after_seq: number;
      readonly limit: number;
    } & CallerIdentity)
  | ({ readonly op: 'auction_quotes'; readonly auction_id: string } & CallerIdentity)
  | ({
      readonly op: 'auctions';
      readonly limit: number;
      readonly before?: { readonly opened_at: string; readonly auction_id: string };
    } & CallerIdentity)
  | ({ readonly op: 'my_quotes' } & CallerIdentity)
  | ({ readonly op: 'originator_preflight'; readonly body: CreateBody } & CallerIdentity)
  | ({
      readonly op: 'quote_preflight';
      readonly auction_id: string;
      readonly price_atoms: Atoms;
      readonly quantity_atoms: Atoms;
    } & CallerIdentity)
  | ({ readonly op: 'limits' } & CallerIdentity)
  | ({ readonly op: 'take_tokens' } & TakeTokens<BucketName>)
  | ({ readonly op: 'call_in' } & RecallLeases)
  | {
      readonly op: 'execution_report';
      readonly auction_id: string;
      readonly award_id: string;
      readonly step: ExecutionStepName;
      readonly attempt: number;
      readonly reason?: string;
      /** Only with the step `CONFIRMED`. */
      readonly settlement?: AwardSettlement;
    }
  | { readonly op: 'pending_awards'; readonly known: readonly string[]; readonly wait_ms: number }
  | {
      /** A gateway renews its lease, and reports the connections that it gained and lost since the last time. */
      readonly op: 'presence';
      /** Names one run of one gateway process. */
      readonly gateway: string;
      /**
       * `here` is complete: a connection that the gateway held before and does not list is lost. The owner replies 409 where this
       * is needed.
       */
      readonly whole: boolean;
      readonly here: readonly ConnectionClaim[];
      readonly gone: readonly ConnectionEnd[];
    }
  | ({ readonly op: 'void'; readonly auction_id: string } & OperatorOrder)
  | ({ readonly op: 'drain' | 'resume' } & OperatorOrder)
  | { readonly op: 'shard_status' };

/** The reply for something that the owner does not have in memory. The projection of completed auctions then decides. */
export const NOT_HELD: LinkReply = { status: 404, body: '' };

/** A link to an owner. */
export type OwnerLink = LinkClient<OwnerRequest>;

/** How a process wants its reads answered. It sends this once, when it opens its link. */
export interface ReadPreferences {
  /** Lists have active auctions only; the peer merges the completed ones itself. */
  readonly activeOnly: boolean;
  /** The owner may answer for auctions that are over, as long as the projections do not have them. */
  readonly readFallback: boolean;
}

/** The preferences of a gateway, which reads completed auctions itself. */
export const GATEWAY_READS: Readonly<Record<string, string>> = {
  [ACTIVE_ONLY_HEADER]: 'true',
  [READ_FALLBACK_HEADER]: 'true',
};

export function readPreferences({ headers }: LinkPeer): ReadPreferences {
  return {
    activeOnly: headers[ACTIVE_ONLY_HEADER] === 'true',
    readFallback: headers[READ_FALLBACK_HEADER] === 'true',
  };
}

export const ACCOUNT_LIMITS: Readonly<Record<BucketName, BucketLimit>> = {
  create: { rate_per_second: 2, burst: 4 },
  cancel: { rate_per_second: 5, burst: 10 },
  quote: { rate_per_second: 50, burst: 100 },
  withdraw: { rate_per_second: 100, burst: 500 },
};
export const QUOTE_PER_AUCTION_LIMIT: BucketLimit = { rate_per_second: 10, burst: 20 };

export const BUCKETS: readonly BucketName[] = ['create', 'cancel', 'quote', 'withdraw'];
/** Tokens of the other buckets are taken so seldom that leases of them would save nothing. */
export const LEASED_BUCKETS: readonly BucketName[] = ['quote', 'withdraw'];
