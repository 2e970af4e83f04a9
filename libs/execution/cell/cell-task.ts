import type { Instant } from '#libs/base/instant.js';
import type { LinkReply } from '#libs/link/link-protocol.js';
import type { ShardTypes, Task } from '#libs/shard/task.js';
import type { CellRefusal, CellReplies } from '../protocol/cell-replies.js';
import { toWire } from '../protocol/wire.js';
import type { CellEvent } from '../rules/events.js';
import { statusOf } from '../rules/failures.js';
import type { UserEntry } from './user-entry.js';

/** The shard types of a cell. A cell reserves nothing in other shards, so it has no requests, grants or releases. */
export interface CellTypes extends ShardTypes {
  entity: UserEntry;
  event: CellEvent;
  request: never;
  grant: never;
  release: never;
  reply: LinkReply;
}

export type CellTask = Task<CellTypes>;

export interface CellDecision {
  readonly events: readonly CellEvent[];
  /** Called once the events are applied. The reply is sent once they are durable. */
  readonly reply: () => LinkReply;
}

let tasks = 0;

/** Each task sees all earlier decisions, so tasks of one user may share a batch. Hence the unique ordering key. */
export function cellTask(
  decide: (now: Instant) => CellDecision,
  settle: (reply: LinkReply) => void,
): CellTask {
  tasks += 1;
  return {
    orderingKey: String(tasks),
    prelude: () => [],
    reservation: () => undefined,
    decide: (now) => decide(now),
    settle,
  };
}

export function answer<Op extends keyof CellReplies>(_op: Op, body: CellReplies[Op]): LinkReply {
  return { status: 200, body: toWire(body) };
}

export function refusal(code: string, message: string, more: Partial<CellRefusal> = {}): LinkReply {
  return { status: statusOf(code), body: toWire({ code, message, ...more }) };
}

export const UNAVAILABLE = refusal('CELL_UNAVAILABLE', 'The cell of this user cannot be asked now.');
export const NO_ORDER = refusal('ORDER_NOT_FOUND', 'There is no such order.');
export const EXPIRED = refusal('COMMAND_EXPIRED', 'The time after which this must not be done has passed.');

export function isPast(notAfter: Instant | undefined, now: Instant): boolean {
  return notAfter !== undefined && notAfter <= now;
}
