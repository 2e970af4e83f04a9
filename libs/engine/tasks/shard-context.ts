import type { Instant } from '#libs/auction/instant.js';
import type { CommandMark, Operation } from '#libs/auction/events.js';
import type { Claim, CommandName, LinkReply } from '#libs/owner-link/protocol.js';
import type { AuctionBook } from '../auction-book.js';
import type { IdFactory } from '../ids.js';
import type { PolicyDesk } from '../policy-desk.js';

/** What the tasks of a shard may look at. */
export interface ShardContext {
  readonly book: AuctionBook;
  readonly ids: IdFactory;
  readonly policy: PolicyDesk;
  readonly clockIsSound: () => boolean;
  readonly activeAuctionLimit: number;
  readonly commandsPerMakerLimit: number;
}

export type Settle = (reply: LinkReply) => void;

export function markOf(request: Claim & CommandName, operation: Operation): CommandMark {
  return { account_id: request.account, operation, key: request.key, content: request.content };
}

export interface DraftHead {
  readonly at: Instant;
  readonly requestId: string;
  readonly command: CommandMark;
}

/** How every draft of a caller's command begins. */
export function drafted(request: Claim & CommandName, operation: Operation, at: Instant): DraftHead {
  return { at, requestId: request.request_id, command: markOf(request, operation) };
}
