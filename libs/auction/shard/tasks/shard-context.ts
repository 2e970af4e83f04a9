import type { Instant } from '#libs/base/instant.js';
import type { CommandMark, Operation } from '../../rules/events.js';
import { rejected } from '#libs/base/rejection.js';
import type { CallerIdentity, CommandIdentity } from '../../protocol/protocol.js';
import type { LinkReply } from '#libs/link/link-protocol.js';
import type { AuctionBook } from '../memory/auction-book.js';
import type { ConnectionBook } from '../connections/connection-book.js';
import type { IdFactory } from '../ids.js';
import type { PolicyDesk } from '../policy-desk.js';

/** What the tasks of a shard may use. */
export interface ShardContext {
  readonly book: AuctionBook;
  readonly ids: IdFactory;
  readonly policy: PolicyDesk;
  readonly connections: Pick<ConnectionBook, 'noteBeforeQuote'>;
  readonly clockIsSound: () => boolean;
  readonly activeAuctionLimit: number;
  readonly commandsPerMakerLimit: number;
}

/** After `not_after` a command is no longer carried out. A reply that was decided before is still returned. */
export function isTooLate({ not_after: notAfter }: CommandIdentity, now: Instant): boolean {
  return notAfter !== undefined && now > notAfter;
}

export const TOO_LATE = rejected('COMMAND_EXPIRED', 'The command came after its not_after.');

export type Settle = (reply: LinkReply) => void;

export function markOf(request: CallerIdentity & CommandIdentity, operation: Operation): CommandMark {
  return { account_id: request.account, operation, key: request.key, content: request.content };
}

export interface DraftHead {
  readonly at: Instant;
  readonly requestId: string;
  readonly command: CommandMark;
}

/** The common fields of drafts that come from a caller's command. */
export function drafted(
  request: CallerIdentity & CommandIdentity,
  operation: Operation,
  at: Instant,
): DraftHead {
  return { at, requestId: request.request_id, command: markOf(request, operation) };
}
