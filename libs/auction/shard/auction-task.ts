import type { Release, ReserveOutcome, ReserveRequest } from '../admission/reservation-desk.js';
import type { EvidenceInvalid } from '../admission/risk/evidence.js';
import type { DomainEvent } from '../rules/events.js';
import type { Rejection } from '#libs/base/rejection.js';
import type { RepeatRules } from '#libs/shard/in-flight-commands.js';
import type { ShardTypes, Task, TaskResult } from '#libs/shard/task.js';
import { fault, type LinkReply } from '#libs/link/link-protocol.js';
import type { AuctionEntry } from './memory/auction-book.js';

/** The types of an auction shard. */
export interface AuctionTypes extends ShardTypes {
  entity: AuctionEntry;
  event: DomainEvent;
  request: ReserveRequest;
  grant: ReserveOutcome;
  release: Release;
  reply: LinkReply;
}

export type AuctionTask = Task<AuctionTypes>;
export type AuctionTaskResult = TaskResult<AuctionTypes>;
export type Submit = (task: AuctionTask) => boolean;

export type TaskRefusal = Rejection | EvidenceInvalid;

export const UNAVAILABLE = fault(503, 'auction_owner_unavailable');

/** Whether a refusal also answers repeats. COMMAND_EXPIRED does not: a repeat may be in time. */
export function isKept({ status, error }: TaskRefusal): boolean {
  return status === 422 && error !== 'COMMAND_EXPIRED';
}

/** Contradictory evidence is an internal error, so its message is not shown to the caller. */
export function refusalReply(refusal: TaskRefusal): LinkReply {
  return refusal.status === 500
    ? fault(500, refusal.error)
    : fault(refusal.status, refusal.error, refusal.message);
}

export const REPEATS: RepeatRules<LinkReply> = {
  inProgress: fault(
    409,
    'idempotency_key_in_progress',
    'The first call with this key is still being worked on.',
  ),
  isFinal: ({ status, body }) =>
    status < 300 || (status === 422 && !body.startsWith('{"error":"COMMAND_EXPIRED"')),
  asRepeat: (reply) => (reply.status === 201 ? { status: 200, body: reply.body } : reply),
};
