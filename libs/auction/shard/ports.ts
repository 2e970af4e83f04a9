import type { CountedAward } from '../admission/policy/maker-protection.js';
import type { CompletedStatus, Operation } from '../rules/events.js';
import type { ViewerRole } from '../rules/told/viewer.js';
import type { SettlementDesk } from '../settlement/settlement.js';
import type { HistoryTable } from './histories/history-table.js';
import type { LinkReply } from '#libs/link/link-protocol.js';

/** The first reply to a command, stored under its idempotency key. */
export interface StoredAnswer {
  readonly content: string;
  readonly reply: LinkReply;
}

export interface PlacedAnswer extends StoredAnswer {
  /** Position of the command's event in the shard's journal. */
  readonly position: number;
}

export interface CommandScope {
  readonly account: string;
  readonly operation: Operation;
  readonly key: string;
  /** Present where the path names an auction, or where a create determines the id. */
  readonly auctionId?: string;
  /** Present where every shard gives its own reply. */
  readonly shard?: number;
}

/** `[opened_at, auction_id, view as JSON text]` of an auction, as its reader may see it. */
export type ListRow = readonly [string, string, string];

/** Reads of auctions that are projected and no longer in memory. */
export interface CompletedAuctions {
  /** The account's role in an auction that is over for it, or undefined. */
  roleOn(auctionId: string, account: string): Promise<ViewerRole | undefined>;
  /** Only for an auction that is over for all parties. The caller checks that it may be shown. */
  statusOf(auctionId: string): Promise<CompletedStatus | undefined>;
  ownsQuote(auctionId: string, quoteId: string, account: string): Promise<boolean>;
  answer(scope: CommandScope): Promise<PlacedAnswer | undefined>;
  /** Newest first. */
  page(
    account: string,
    limit: number,
    before?: { readonly o: string; readonly i: string },
  ): Promise<readonly ListRow[]>;
  /** The journal position up to which the projections of `shard` are written. */
  position(shard: number): Promise<number>;
}

/**
 * The journal positions of auctions that were evicted from memory. The owner writes them; a process that writes projections
 * cannot change them.
 */
export type AuctionHistories = Pick<HistoryTable, 'keep' | 'find'>;

/** Gives up an award that was not executed in time, unless it was settled. Returns which of the two is recorded. */
export type AwardConclusion = Pick<SettlementDesk, 'abandon'>;

/** Counts awards against makers' protection limits, and returns the makers whose limit was reached. */
export interface ProtectionDesk {
  record(awards: readonly CountedAward[]): Promise<readonly string[]>;
}

/** Measurements that the shard reports. */
export interface ShardMeter {
  command(operation: string, status: number, code: string): void;
  appended(records: number, seconds: number): void;
}
