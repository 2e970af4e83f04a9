import type { CountedAward } from '../admission/policy/maker-protection.js';
import type { CompletedStatus, Operation } from '../rules/events.js';
import type { ViewerRole } from '../rules/told/viewer.js';
import type { SettlementDesk } from '../settlement/settlement.js';
import type { HistoryTable } from './histories/history-table.js';
import type { LinkReply } from '#libs/link/link-protocol.js';

/** A command's first answer, found again by its caller's name for it. */
export interface StoredAnswer {
  readonly content: string;
  readonly reply: LinkReply;
}

export interface PlacedAnswer extends StoredAnswer {
  /** Where it stands in the shard's journal. */
  readonly position: number;
}

export interface CommandScope {
  readonly account: string;
  readonly operation: Operation;
  readonly key: string;
  /** Where the path names an auction, or where the create itself has derived its id. */
  readonly auctionId?: string;
  /** Where every shard gives an answer of its own. */
  readonly shard?: number;
}

/** `[opened_at, auction_id, view as JSON text]` of an auction, as its reader may see it. */
export type ListRow = readonly [string, string, string];

/** What the shard has handed over to the projections and no longer keeps in memory. */
export interface CompletedAuctions {
  /** The account's part in an auction that is over for it, or undefined. */
  roleOn(auctionId: string, account: string): Promise<ViewerRole | undefined>;
  /** Of an auction that is over for everybody; whoever asks must be allowed to know. */
  statusOf(auctionId: string): Promise<CompletedStatus | undefined>;
  ownsQuote(auctionId: string, quoteId: string, account: string): Promise<boolean>;
  answer(scope: CommandScope): Promise<PlacedAnswer | undefined>;
  /** Newest first. */
  page(
    account: string,
    limit: number,
    before?: { readonly o: string; readonly i: string },
  ): Promise<readonly ListRow[]>;
  /** Up to which journal position of `shard` the projections have come, and when they last said so. */
  position(shard: number): Promise<number>;
}

/** Where the journal has the auctions that the shard has forgotten. It is the owner's own word: who writes projections cannot take it back. */
export type AuctionHistories = Pick<HistoryTable, 'keep' | 'find'>;

/** Gives up an award that was not executed in time, unless it was settled: exactly one of the two stands, and this tells which. */
export type AwardConclusion = Pick<SettlementDesk, 'abandon'>;

/** Counts awards against makers' protection settings and says whose limit they have tripped. */
export interface ProtectionDesk {
  record(awards: readonly CountedAward[]): Promise<readonly string[]>;
}

/** What the shard reports of its work to whoever measures. */
export interface ShardMeter {
  command(operation: string, status: number, code: string): void;
  appended(records: number, seconds: number): void;
}
