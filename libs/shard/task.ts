import type { EvidenceInvalid } from '#libs/auction/admission/evidence-invalid.js';
import type { ReserveOutcome, ReserveRequest } from '#libs/auction/admission/reservation-desk.js';
import type { AuctionEventBody, CommandMark, ShardEventBody } from '#libs/auction/rules/events.js';
import type { Instant } from '#libs/base/instant.js';
import type { Rejection } from '#libs/base/rejection.js';
import { fault, type LinkReply } from '#libs/link/link-protocol.js';
import type { Release } from '#libs/auction/shard/releases.js';

/** An event on its way to the journal; its place there is the only thing that it lacks. */
export type Draft = {
  readonly at: Instant;
  readonly command?: CommandMark;
  readonly requestId?: string;
} & ({ readonly auctionId: string; readonly body: AuctionEventBody } | { readonly body: ShardEventBody });

export interface Decision {
  readonly drafts: readonly Draft[];
  /** Asked once the drafts have been applied to memory; what it gives is sent when they are durable. */
  readonly answer: () => LinkReply;
  /** There is more to decide behind these drafts, in the next batch; only the last part is answered. */
  readonly unfinished?: true;
  /** Set aside in vain: the reservation was granted and the rules refused after all. */
  readonly unused?: readonly Release[];
}

/** The state has moved since the reservation was asked for: decide anew in the next batch. */
export const AGAIN = 'AGAIN';

/**
 * One piece of work for the command loop. `decide` sees all that the tasks before it in the batch have done; it is
 * synchronous, so nothing comes in between.
 */
export interface Task {
  /** Two tasks of one lane never share a batch: the second is decided only when the first's outcome is certain. */
  readonly lane: string;
  /** What must be journaled before the task itself is decided, whatever becomes of the task. */
  prelude(now: Instant): readonly Draft[];
  reservation(now: Instant): ReserveRequest | undefined;
  decide(now: Instant, granted: ReserveOutcome | undefined): Decision | typeof AGAIN;
  /** The outcome is durable. */
  settle(reply: LinkReply): void;
}

export type Refusal = Rejection | EvidenceInvalid;

/** What is refused in form of a 422 answers every repeat; that a command came too late says nothing of the next time. */
export function isKept({ status, error }: Refusal): boolean {
  return status === 422 && error !== 'COMMAND_EXPIRED';
}

/** Evidence that contradicts itself is our fault and no business of the caller's. */
export function refusalReply(refusal: Refusal): LinkReply {
  return refusal.status === 500
    ? fault(500, refusal.error)
    : fault(refusal.status, refusal.error, refusal.message);
}
