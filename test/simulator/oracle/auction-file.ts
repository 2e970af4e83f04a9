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
  /** As submitted, and as each revision has left it. */
  readonly versions: RawQuote[];
  /** The stream on which it was submitted, if it was. */
  readonly connection: string | undefined;
  withdrawal?: Withdrawal;
}

export interface Withdrawal {
  readonly by: string;
  /** Whether some command says already that it has led to it. */
  isClaimed: boolean;
}

export interface FiledAward {
  readonly terms: RawAward;
  stage: 'PENDING' | 'SUBMITTED' | 'CONFIRMED' | 'FAILED';
  attempt: number;
  /** How it was settled, as soon as it is confirmed. */
  settlement?: RawSettlement;
}

/** One line of somebody's timeline, as it must be told, and which record of its shard's journal says so. */
export interface StoryLine {
  readonly kind: string;
  readonly at: string;
  readonly sequence: number;
  readonly actor: string;
  readonly data: Shown;
  /** What there is to be seen as of this line; nothing where the record has told of more at once. */
  readonly sight?: ViewedAuction;
}

/** An auction as the oracle keeps it: plain, and grown event by event. */
export interface AuctionFile {
  readonly id: string;
  readonly shard: number;
  /** Of its events in the journal of its shard. */
  readonly places: number[];
  readonly terms: RawTerms;
  readonly hold: readonly RawHold[];
  stage: 'OPEN' | 'CLOSED' | 'OFF' | 'AWARDED' | 'NOT_AWARDED' | 'COMPLETED';
  status: string;
  readonly quotes: Map<string, FiledQuote>;
  readonly awards: Map<string, FiledAward>;
  /** Until when its awards may be carried out; as soon as there are any. */
  executionDeadline: string | undefined;
  readonly stories: Map<string, StoryLine[]>;
  /** For whom it is over. */
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
