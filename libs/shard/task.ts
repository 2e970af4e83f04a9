import type { Instant } from '#libs/base/instant.js';

/** An entity whose state the shard keeps in memory. States are immutable values. */
export interface Entity<State> {
  /** Includes the events that are on their way to the journal. Commands are decided against it. */
  head: State;
  /** The durable state, and so what callers may see. Undefined before the first event is durable. */
  durable: State | undefined;
}

/** The types of one service's shard, declared once as `interface CounterTypes extends ShardTypes`. */
export interface ShardTypes {
  entity: Entity<unknown>;
  event: unknown;
  /** What a task asks to reserve, and the outcome. */
  request: unknown;
  grant: unknown;
  /** The reserved amounts that are set free. */
  release: unknown;
  reply: unknown;
}

export interface TaskResult<T extends ShardTypes> {
  readonly events: readonly T['event'][];
  /** Called after the events have been applied to memory. The reply is sent once they are durable. */
  readonly reply: () => T['reply'];
  /** The task has more to decide in the next batch; only its last part is answered. */
  readonly unfinished?: true;
  /** The amounts to release again: the reservation was granted, but the rules refused the command. */
  readonly unused?: readonly T['release'][];
}

/** The state has changed since the reservation was requested: the task is decided again in the next batch. */
export const AGAIN = 'AGAIN';

/**
 * One command, or one piece of internal work, for the command loop. `decide` is synchronous and sees the effects of all tasks
 * before it, so nothing can change in between.
 */
export interface Task<T extends ShardTypes> {
  /** Two tasks with the same key never share a batch: the second one is decided after the outcome of the first is certain. */
  readonly orderingKey: string;
  /** Events before the task's own, whatever the outcome of the task. */
  prelude(now: Instant): readonly T['event'][];
  reservation(now: Instant): T['request'] | undefined;
  decide(now: Instant, grant: T['grant'] | undefined): TaskResult<T> | typeof AGAIN;
  /** Called when the outcome is durable. */
  settle(reply: T['reply']): void;
}
