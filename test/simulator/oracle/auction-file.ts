import type { RawAward, RawHold, RawQuote, RawSettlement, RawTerms } from './raw-events.js';
import type { Shown, ViewedAuction } from './told/shown.js';

export interface FiledQuote {
  readonly id: string;
  readonly maker: string;
  price: number;
  quantity: number;
  minimum: number;
  revision: number;
  expiresAt: string | undefined;
  priority: number;
  status: 'ACTIVE' | 'WITHDRAWN' | 'EXPIRED' | 'JUDGED';
  hold: readonly RawHold[];
  /** The terms as submitted, and after each revision. */
  readonly versions: RawQuote[];
  /** The stream on which the quote was submitted, if any. */
  readonly connection: string | undefined;
  withdrawal?: Withdrawal;
}

export interface Withdrawal {
  readonly by: string;
  /** Whether a command has already been matched with this submission. */
  isClaimed: boolean;
}

export interface FiledAward {
  readonly terms: RawAward;
  stage: 'PENDING' | 'SUBMITTED' | 'CONFIRMED' | 'FAILED';
  attempt: number;
  /** The settlement, once it is confirmed. */
  settlement?: RawSettlement;
}

/** One expected line of a party's timeline, and the journal record that it comes from. */
export interface StoryLine {
  readonly kind: string;
  readonly at: string;
  readonly sequence: number;
  readonly actor: string;
  readonly data: Shown;
  /** The view as of this line; absent if the same record adds further lines. */
  readonly sight?: ViewedAuction;
}

/** An auction as the oracle keeps it: plain data that grows event by event. */
export interface AuctionFile {
  readonly id: string;
  readonly shard: number;
  /** The sequences of its events in the shard's journal. */
  readonly places: number[];
  readonly terms: RawTerms;
  readonly hold: readonly RawHold[];
  stage: 'OPEN' | 'CLOSED' | 'OFF' | 'AWARDED' | 'NOT_AWARDED' | 'COMPLETED';
  status: string;
  readonly quotes: Map<string, FiledQuote>;
  readonly awards: Map<string, FiledAward>;
  /** The deadline for settling its awards; set with the first award. */
  executionDeadline: string | undefined;
  readonly stories: Map<string, StoryLine[]>;
  /** The accounts for which the auction is over. */
  readonly over: Set<string>;
}

export function activeQuotes(file: AuctionFile): FiledQuote[] {
  return [...file.quotes.values()].filter(({ status }) => status === 'ACTIVE');
}

export function isExpired({ expiresAt }: FiledQuote, at: string): boolean {
  return expiresAt !== undefined && expiresAt <= at;
}

export function partiesOf({ terms }: AuctionFile): string[] {
  return [terms.originator.account_id, ...terms.audience.map((party) => party.account_id)];
}
