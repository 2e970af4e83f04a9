import type { CreateBody, ReviseBody, SubmitBody } from '../rules/commands.js';
import type { AwardSettlement } from '../rules/events.js';
import type { Atoms } from '#libs/base/money.js';

/** Who asks, as the gateway has verified it. It travels as a claim of the gateway's, never as a field of a body. */
export interface Claim {
  readonly account: string;
  readonly request_id: string;
}

/** The caller's name for a command, and the hash of its content without that name. */
export interface CommandName {
  readonly key: string;
  readonly content: string;
  /** Past this instant the command is refused with COMMAND_EXPIRED; what was decided before is told even later. */
  readonly not_after?: string;
}

/** A stream connection whose quotes are withdrawn when it ends and is not resumed within its grace. */
export interface ConnectionClaim {
  readonly connection_id: string;
  readonly account: string;
  /** Counts the sockets that have carried the connection; only the end of the latest one is the connection's. */
  readonly attachment: number;
  /** Absent where the latest `hello` did not ask for it: then the quotes stand. */
  readonly grace_ms?: number;
}

export interface ConnectionEnd {
  readonly connection_id: string;
  readonly attachment: number;
  /** `BYE` leaves the quotes standing, `LOST` does not. */
  readonly how: 'BYE' | 'LOST';
}

/** What an operator does, and who it is. */
export interface OperatorOrder {
  readonly operator: string;
  readonly request_id: string;
  readonly reason?: string;
}

export type BucketName = 'create' | 'cancel' | 'quote' | 'withdraw';

export interface TokenRequest {
  readonly account: string;
  readonly bucket: BucketName;
}

/** Buckets of which tokens are leased. The others are taken too seldom for it to bring anything. */
export type LeasedBucket = Extract<BucketName, 'quote' | 'withdraw'>;

/** An owner that holds leases, in one of its lives: the epoch of its shard. */
export interface LeaseHolder {
  readonly shard: number;
  readonly life: number;
}

/** Tokens in advance for an account, under a number that the holder has never used before in this life. */
export interface LeaseWish {
  readonly account: string;
  readonly bucket: LeasedBucket;
  readonly lease: number;
}

/** How many tokens of a lease have been used since it began, and whether no more will be. */
export type LeaseReport = readonly [lease: number, used: number, done: boolean];

export type ExecutionStepName = 'SUBMITTED' | 'RETRYING' | 'CONFIRMED' | 'FAILED';

/**
 * All that may be asked of an owner. A reply is a status and a body that is JSON text already, so a gateway passes it on
 * as it came.
 */
export type LinkRequest =
  | ({ readonly op: 'create'; readonly body: CreateBody } & Claim & CommandName)
  | ({ readonly op: 'cancel'; readonly auction_id: string; readonly reason?: string } & Claim & CommandName)
  | ({
      readonly op: 'submit';
      readonly auction_id: string;
      readonly body: SubmitBody;
      readonly connection_id?: string;
    } & Claim &
      CommandName)
  | ({
      readonly op: 'revise';
      readonly auction_id: string;
      readonly quote_id: string;
      readonly body: ReviseBody;
    } & Claim &
      CommandName)
  | ({
      readonly op: 'withdraw';
      readonly auction_id: string;
      readonly quote_id: string;
      readonly expected_revision?: number;
    } & Claim &
      CommandName)
  | ({
      readonly op: 'withdraw_all';
      /** The whole call counts once, at the account's home shard. */
      readonly metered: boolean;
      readonly auction_ids?: readonly string[];
      readonly venue?: string;
    } & Claim &
      CommandName)
  | ({ readonly op: 'auction'; readonly auction_id: string } & Claim)
  | ({
      readonly op: 'events';
      readonly auction_id: string;
      readonly after_seq: number;
      readonly limit: number;
    } & Claim)
  | ({ readonly op: 'auction_quotes'; readonly auction_id: string } & Claim)
  | ({
      readonly op: 'auctions';
      readonly limit: number;
      readonly before?: { readonly opened_at: string; readonly auction_id: string };
    } & Claim)
  | ({ readonly op: 'my_quotes' } & Claim)
  | ({ readonly op: 'originator_preflight'; readonly body: CreateBody } & Claim)
  | ({
      readonly op: 'quote_preflight';
      readonly auction_id: string;
      readonly price_atoms: Atoms;
      readonly quantity_atoms: Atoms;
    } & Claim)
  | ({ readonly op: 'limits' } & Claim)
  | {
      readonly op: 'take_tokens';
      readonly requests: readonly TokenRequest[];
      readonly holder: LeaseHolder;
      readonly wishes: readonly LeaseWish[];
      readonly reports: readonly LeaseReport[];
    }
  /** The account's home wants to know for good how much of these leases was used: nothing may be taken from them any more. */
  | { readonly op: 'call_in'; readonly life: number; readonly leases: readonly number[] }
  | {
      readonly op: 'execution_report';
      readonly auction_id: string;
      readonly award_id: string;
      readonly step: ExecutionStepName;
      readonly attempt: number;
      readonly reason?: string;
      /** Of an award that is confirmed. */
      readonly settlement?: AwardSettlement;
    }
  | { readonly op: 'pending_awards'; readonly known: readonly string[]; readonly wait_ms: number }
  | {
      /** A gateway renews its lease, and tells which connections it has gained and lost since it last did. */
      readonly op: 'presence';
      /** Names one life of one gateway process. */
      readonly gateway: string;
      /** `here` is all there is; what the gateway held before and does not name is lost. Answered 409 where it is needed. */
      readonly whole: boolean;
      readonly here: readonly ConnectionClaim[];
      readonly gone: readonly ConnectionEnd[];
    }
  | ({ readonly op: 'void'; readonly auction_id: string } & OperatorOrder)
  | ({ readonly op: 'drain' | 'resume' } & OperatorOrder)
  | { readonly op: 'shard_status' };

/** Answers `take_tokens`. `leased` says how much, wish by wish. */
export interface TokensGranted {
  readonly granted: readonly boolean[];
  readonly leased: readonly number[];
}

/** Answers `call_in`, lease by lease; null where the holder knows nothing of it. */
export interface LeasesCalledIn {
  readonly used: readonly (number | null)[];
}

export interface LinkReply {
  readonly status: number;
  /** JSON text; empty where the status says it all. */
  readonly body: string;
}

/** What an owner says unasked: its journal has come to `head`, so whoever follows it need not wait for the next look. */
export interface LinkNotice {
  readonly head: number;
  /** What stands there: the last of them at `head`. Missing where there is too much of it, or none. */
  readonly records?: CommittedRecords;
}

/** Events that an owner has committed, one behind the other. */
export interface CommittedRecords {
  readonly epoch: number;
  /** Of the last: with it everybody who knows the hash before the first finds out whether these are what follows. */
  readonly hash: string;
  readonly payloads: readonly string[];
}

/** Status with which an owner says that it does not hold what was asked for, so that the completed projection decides. */
export const NOT_HELD: LinkReply = { status: 404, body: '' };

export function reply(status: number, body: object): LinkReply {
  return { status, body: JSON.stringify(body) };
}

/** The error code of a refusal, for figures and traces; undefined where it is none. */
export function codeOf({ status, body }: LinkReply): string | undefined {
  return status < 400 ? undefined : (/"error":"([^"]*)"/.exec(body)?.[1] ?? 'unknown');
}

export function fault(status: number, error: string, message?: string): LinkReply {
  return reply(status, message === undefined ? { error } : { error, message });
}

/**
 * Where a link is opened. One frame on it carries many requests `[[id, request], ...]` or replies `[[id, status, body], ...]`;
 * a reply with id 0 is a LinkNotice, whose payloads, if it has any, are the fourth part. A request that is traced has a third part, the W3C `traceparent` of whoever asks; it asks for
 * nothing, and a peer of an earlier version does not look at it.
 */
export const LINK_PATH = '/link';
export const NOTICE_ID = 0;
export const MAX_FRAME_BYTES = 8 * 1024 * 1024;
/** Who holds the other end of a link, and how it wants to read; said once, in the headers with which the link is opened. */
export interface LinkPeer {
  readonly name: string;
  /** Lists hold active auctions only: the peer merges the completed ones itself. */
  readonly activeOnly: boolean;
  /** The owner may answer for auctions that are over, as long as the projections do not have them. */
  readonly readFallback: boolean;
}

export const SERVICE_TOKEN_HEADER = 'x-service-token';
export const PEER_HEADER = 'x-auction-peer';
export const ACTIVE_ONLY_HEADER = 'x-auction-active-only';
export const READ_FALLBACK_HEADER = 'x-auction-owner-read-fallback';
/** `true` from a peer that wants to hear of the journal's head; to the others none of it is sent. */
export const NOTICES_HEADER = 'x-auction-notices';
